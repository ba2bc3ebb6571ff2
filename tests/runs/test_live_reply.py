"""A reply while it is made cites what its window holds."""

from __future__ import annotations

import uuid
from dataclasses import replace

import pytest

from conversations.core.record import GroundingPassage, GroundingRecord
from conversations.runs.live_reply import LiveReply
from tests.admin.stored import make_record


@pytest.mark.parametrize("passages", [0, 1, 2])
def test_blocks_cite_the_passages_of_the_last_window(passages):
    live = LiveReply(1, uuid.uuid4(), position=1)
    for included in (9, passages):  # the first was refused as too long
        grounding = GroundingRecord(included=tuple(GroundingPassage(number + 1, None) for number in range(included)))
        live.record_window(replace(make_record(), grounding=grounding))
    live.append("So it is [1], or [2].\n\n")
    live.flush()
    [block] = live.take_lines().render()
    assert block.html.count("data-citation") == passages
