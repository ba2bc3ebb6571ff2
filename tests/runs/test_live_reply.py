"""A reply while it is made cites what its window holds, and keeps apart what belongs to each of its steps."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace

import pytest

from conversations.core.window.window_record import GroundingPassage, GroundingRecord
from conversations.live.fanout import Subscriber, subscribe, unsubscribe
from conversations.runs.live_reply import SOON_SECONDS, LiveReply, StepText
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


@pytest.fixture
def live():
    """A reply that is at its first step, whose text is being rendered."""
    live = LiveReply(1, uuid.uuid4(), position=1)
    live.append("Let me see.\n\nI look")
    live.flush()
    return live


@pytest.fixture
async def heard(live):
    """The frames that are sent from now on."""
    frames = []
    subscribe(live._topic, subscriber := Subscriber(lambda payload: frames.append(json.loads(payload))))
    yield frames
    unsubscribe(live._topic, subscriber)


async def test_the_first_piece_is_sent_at_once_and_what_follows_together(live, heard):
    live.begin_step(2, position=3, text="")
    for piece in ("A", " garden", "."):
        live.append(piece)
    live.flush()
    assert [frame["text"] for frame in heard if frame["type"] == "reply.delta"] == ["A", " garden."]


@pytest.mark.parametrize("kind", ["append", "append_reasoning"])
async def test_a_piece_is_sent_at_once_if_the_last_one_was_sent_some_time_ago(kind):
    said, seconds = [], iter((0.0, SOON_SECONDS / 2, SOON_SECONDS, SOON_SECONDS, 1.4 * SOON_SECONDS))
    live = LiveReply(1, uuid.uuid4(), position=1, now=lambda: next(seconds))
    subscribe(live._topic, subscriber := Subscriber(lambda payload: said.append(json.loads(payload)["text"])))
    for piece in ("A", " garden", ", or", " two"):
        getattr(live, kind)(piece)
    unsubscribe(live._topic, subscriber)
    assert said == ["A", " garden, or"]


async def test_with_each_step_the_text_begins_again(live, heard):
    live.append(" around.")
    live.begin_step(2, position=3, text="")
    live.append("A garden.")
    live.flush()
    assert [(frame["type"], frame["step"], frame.get("at"), frame.get("text")) for frame in heard] == [
        ("reply.delta", 1, 19, " around."),
        ("reply.step", 2, None, None),
        ("reply.delta", 2, 0, "A garden."),
    ]
    assert live.text == "A garden."


async def test_blocks_of_a_step_that_has_ended_are_not_sent(live, heard):
    late = live.take_lines()
    live.begin_step(2, position=3, text="")
    live.send_blocks(late, late.render())
    assert [frame["type"] for frame in heard] == ["reply.step"]


def test_text_of_a_step_that_has_ended_is_not_rendered_with_the_next(live):
    late = live.take_lines()
    live.begin_step(2, position=3, text="")
    live.append("A garden.\n\nAnd")
    live.flush()
    late.render()
    [block] = live.take_lines().render()
    assert (block.start, "A garden." in block.html) == (0, True)


def test_what_was_saved_of_a_step_that_has_ended_says_nothing_of_the_next(live):
    late = live.unsaved()
    live.begin_step(2, position=3, text="")
    live.append("A garden was there.")
    live.flush()
    live.mark_saved(late)
    assert (late.position, live.unsaved()) == (1, StepText(3, "A garden was there."))


def test_a_reply_that_goes_on_after_a_decision_has_its_text_and_nothing_to_save(live):
    live.begin_step(2, position=3, text="I would like to")
    assert (live.text, live.unsaved(), live.has_lines) == ("I would like to", None, False)


SAID = "Let me see.\n\nIt is thr"  # what a reply said before it was continued


@pytest.fixture
def continued():
    live = LiveReply(1, uuid.uuid4(), position=1, text=SAID)
    live.begin_step(1, position=1, text=SAID)
    return live


async def test_what_is_continued_goes_on_at_its_offset_and_is_rendered_from_its_beginning(continued):
    frames = []
    subscribe(continued._topic, subscriber := Subscriber(lambda payload: frames.append(json.loads(payload))))
    for _ in range(2):  # the first window was refused as too long
        continued.record_window(make_record())
    continued.append("ee.\n\nSo")
    continued.flush()
    [delta] = [frame for frame in frames if frame["type"] == "reply.delta"]
    blocks = continued.take_lines().render()
    unsubscribe(continued._topic, subscriber)
    assert (delta["at"], delta["text"]) == (len(SAID), "ee.\n\nSo")
    assert [(block.start, block.end) for block in blocks] == [(0, 13), (13, len(SAID + "ee.\n\n"))]
    assert continued.unsaved().text == SAID + "ee.\n\nSo"


async def test_thoughts_that_came_as_text_leave_what_was_said_before(continued):
    frames = []
    subscribe(continued._topic, subscriber := Subscriber(lambda payload: frames.append(json.loads(payload))))
    continued.record_window(make_record())
    continued.append("Hm, three?")
    continued.take_back_text()
    continued.append("ee.")
    continued.flush()
    unsubscribe(continued._topic, subscriber)
    assert "reply.restarted" in [frame["type"] for frame in frames]
    deltas = [(frame["at"], frame["text"]) for frame in frames if frame["type"] == "reply.delta"]
    assert deltas[-2:] == [(0, SAID), (len(SAID), "ee.")]
    assert (continued.text, continued.reasoning.text) == (SAID + "ee.", "Hm, three?")


def test_what_is_ended_before_its_first_window_still_has_its_text(continued):
    assert LiveReply(1, uuid.uuid4(), position=1, text=SAID).text == continued.text == SAID
    assert continued.unsaved() is None
