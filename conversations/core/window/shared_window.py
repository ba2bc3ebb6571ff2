"""A window record as it is shared: its numbers, and the messages by their numbers in the share.

What is not shared is counted and not named: other conversations, messages of other versions, times and scores. What no
page of a share shows is left out: the rules of the window, and how its budget was found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .window_record import GroundingRecord, RecallEntry, RecallRecord, WindowRecord

# As in a record of which they were never written.
NOT_SHOWN: Mapping[str, Any] = {
    "encoding": "",
    "calibration": "1",
    "policy": {},
    "first_position": 0,
    "older_limit_tokens": 0,
    "forgotten_before": 0,
    "anchor": None,
    "tools_withheld": "",
    "summary": None,
    "wire": "chat",
    "breakpoints": "",
}


def share_record(record: WindowRecord, numbers: Mapping[int, int]) -> dict[str, Any]:
    """Return what is stored of *record*, to be read by `WindowRecord.from_json`.

    *numbers* are those of the shared messages, by the ids of all messages that stand in them. A message that is not
    among them keeps its tokens alone. Of what was looked up only the tokens stay.
    """

    def number_of(message: int | None) -> int | None:
        return numbers.get(message) if message is not None else None

    recall = record.recall
    left_out = [(out, number_of(out.message)) for out in record.left_out]
    shown = [entry for entry in recall.included if entry.conversation is None and entry.message in numbers]
    shared = replace(
        record,
        entries=tuple(entry._replace(message=number_of(entry.message), position=None) for entry in record.entries),
        left_out=tuple(replace(out, message=number, position=number) for out, number in left_out if number is not None),
        left_out_unnamed=record.left_out_unnamed + sum(number is None for _, number in left_out),
        grounding=GroundingRecord(tokens=record.grounding.tokens),
        recall=RecallRecord(
            tokens=recall.tokens,
            included=tuple(_shared_entry(entry, numbers[entry.message]) for entry in shown),
            left_out_unnamed=len(recall.included) - len(shown),
            is_looked_up=recall.is_looked_up,
        ),
        **NOT_SHOWN,
    )
    return shared.to_json()


def _shared_entry(entry: RecallEntry, number: int) -> RecallEntry:
    return entry._replace(message=number, position=number, at="", score=0.0, why=())
