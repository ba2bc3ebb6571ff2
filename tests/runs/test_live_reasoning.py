"""Reasoning while it streams: sent and saved by offset, bounded, timed from its first piece to the next text."""

from __future__ import annotations

import json
import uuid

import pytest

from conversations.live.fanout import Subscriber, subscribe, unsubscribe
from conversations.models.message import MOST_REASONING_CHARACTERS
from conversations.runs.live_reasoning import LiveReasoning
from conversations.runs.live_reply import LiveReply, StepText
from conversations.services.replies.reasoning import Reasoning


class Clock:
    """A clock that stands still unless it is told to go on."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def reasoning(clock):
    return LiveReasoning(clock=clock)


@pytest.fixture
async def heard():
    """A reply, and the frames about it."""
    live, frames = LiveReply(1, uuid.uuid4(), position=1), []
    subscribe(live._topic, subscriber := Subscriber(lambda payload: frames.append(json.loads(payload))))
    yield live, frames
    unsubscribe(live._topic, subscriber)


def pieces(frames):
    return [(frame["type"], frame["at"], frame["text"]) for frame in frames]


async def test_the_first_piece_is_sent_at_once_and_what_follows_together(heard):
    live, frames = heard
    for piece in ("They", " greet", " me."):
        live.append_reasoning(piece)
    assert pieces(frames) == [("reply.reasoning", 0, "They")]
    live.append("Hello")
    assert pieces(frames)[1:] == [("reply.reasoning", 4, " greet me."), ("reply.delta", 0, "Hello")]
    assert (live.text, live.reasoning.text) == ("Hello", "They greet me.")


async def test_offsets_are_code_points_of_the_reasoning_alone(heard):
    live, frames = heard
    for kind, piece in [("reasoning", "🦊"), ("text", "中文"), ("reasoning", " 👩‍👩‍👧"), ("text", "!")]:
        live.append_reasoning(piece) if kind == "reasoning" else live.append(piece)
        live.flush()
    assert [frame["at"] for frame in frames] == [0, 0, 1, 2]


def test_with_each_step_the_reasoning_begins_again():
    live = LiveReply(1, uuid.uuid4(), position=1)
    live.append_reasoning("Look around.")
    live.begin_step(2, position=3, text="")
    live.append_reasoning("A garden?")
    live.flush()
    assert (live.reasoning.text, live.unsaved().reasoning.text) == ("A garden?", "A garden?")


def test_what_is_saved_is_not_saved_again():
    live = LiveReply(1, uuid.uuid4(), position=1)
    live.append_reasoning("Hm.")
    saved = live.unsaved()
    live.mark_saved(saved)
    assert live.unsaved() is None
    live.append("Hello")
    assert live.unsaved() == StepText(1, "Hello", None)


def test_the_clock_runs_from_the_first_thought_to_the_text(reasoning, clock):
    clock.now += 5
    reasoning.append("Hm.")
    clock.now += 2
    assert (reasoning.lasts, reasoning.seconds) == (True, 2)
    reasoning.pause()
    clock.now += 9
    assert (reasoning.lasts, reasoning.value) == (False, Reasoning("Hm.", 2, None))


def test_several_stretches_add_up(reasoning, clock):
    for seconds in (2, 3):
        reasoning.append("Hm. ")
        clock.now += seconds
        reasoning.pause()
        clock.now += 10
    assert reasoning.seconds == 5


def test_how_long_it_lasts_is_saved_though_nothing_comes(reasoning, clock):
    reasoning.append("Hm.")
    reasoning.take_fresh()
    reasoning.mark_saved(reasoning.unsaved())
    clock.now += 0.9
    assert reasoning.unsaved() is None
    clock.now += 0.2
    assert reasoning.unsaved().seconds == pytest.approx(1.1)


def test_no_more_is_kept_than_may_be(reasoning):
    for _ in range(11):
        reasoning.append("x" * 100_000)
        reasoning.take_fresh()
    assert reasoning.value.text == "x" * MOST_REASONING_CHARACTERS


def test_what_cannot_be_stored_is_taken_out(reasoning):
    for piece in ("A fox \ud83e", "\udd8a ran\x00, ", "alone \udd8a."):
        reasoning.append(piece)
    assert reasoning.value.text == "A fox 🦊 ran, alone ."


def test_attempts_stand_apart_and_tokens_add_up(reasoning):
    for tokens in (3, 4):
        reasoning.append("Hm")
        reasoning.append(".")
        reasoning.end_attempt(tokens)
    assert reasoning.value == Reasoning("Hm.\n\nHm.", reasoning.seconds, 7)


@pytest.mark.parametrize("reports", [(None,), (3, None), (None, 3), (0,)])
def test_reports_that_leave_some_out_do_not_count(reasoning, reports):
    for tokens in reports:
        reasoning.append("Hm.")
        reasoning.end_attempt(tokens)
    assert reasoning.value.tokens is None


def test_an_attempt_without_thoughts_needs_no_report(reasoning):
    reasoning.end_attempt(None)
    reasoning.append("Hm.")
    reasoning.end_attempt(3)
    assert reasoning.value.tokens == 3
