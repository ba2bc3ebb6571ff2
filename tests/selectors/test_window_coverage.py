"""Which mark a message gets, from the record of a window and what is decided about the message."""

from __future__ import annotations

from typing import get_args

import pytest

from conversations.core.prompt.messages import PromptMessage, PromptToolCall
from conversations.core.window.budget import ChatFormat, LanguageModel
from conversations.core.window.compute_window import Turn, compute_window
from conversations.core.window.history import HistoryMessage
from conversations.core.window.policies import SlidingWindow
from conversations.core.window.window_record import RecallEntry, RecallRecord
from conversations.models import Message
from conversations.selectors.conversations.window_coverage import EVERYTHING, Coverage, Mark
from conversations.wording.window_labels import MARK_LABELS

MODEL = LanguageModel("tiny", 100, 20, "characters", ChatFormat(0, 0, 0, 0, 0))


def stored(position, tokens=10, *, excluded=False):
    role = "assistant" if position % 2 else "user"
    return HistoryMessage(position, PromptMessage(role, "x" * tokens), tokens, id=100 + position, excluded=excluded)


def coverage_from(older, *, pins=(), **policy):
    turn = Turn(stored(10), pins=pins)
    window = compute_window(turn, older, language_model=MODEL, policy=SlidingWindow(**policy), count_text=len)
    return Coverage.of(window.record)


def mark(coverage, position, **decided):
    return coverage.mark_of(Message(pk=100 + position, position=position, **decided))


def test_what_lies_before_the_window_is_out_of_view_and_the_rest_is_in_it():
    coverage = coverage_from([stored(position) for position in range(9, -1, -1)], low_water_share=1.0)
    assert [mark(coverage, position) for position in (0, coverage.first_position - 1)] == ["out", "out"]
    assert [mark(coverage, position) for position in (coverage.first_position, 10, 11)] == ["in", "in", "in"]


@pytest.mark.parametrize(
    ("left_out", "policy"), [({"excluded": True}, {}), ({"tokens": 90}, {"skip_oversized": True}), ({"tokens": 0}, {})]
)
def test_what_is_left_out_after_the_beginning_is_out_of_view_too(left_out, policy):
    coverage = coverage_from([stored(9), stored(8, **left_out), stored(7)], **policy)
    assert (coverage.first_position, mark(coverage, 8), mark(coverage, 7)) == (7, "out", "in")


def test_pins_are_known_wherever_they_stand():
    older = [stored(position) for position in range(9, -1, -1)]
    above = coverage_from(older, pins=[stored(0)], low_water_share=1.0)
    assert (above.pins, above.has_pins_above) == ((100,), True)
    assert not coverage_from(older, pins=[stored(9)], low_water_share=1.0).has_pins_above


@pytest.mark.parametrize(
    ("decided", "expected"),
    [({"pinned": True}, "pinned"), ({"excluded": True}, "excluded"), ({"pinned": True, "excluded": True}, "excluded")],
)
def test_what_a_person_has_decided_goes_before_what_the_window_says(decided, expected):
    assert mark(Coverage(first_position=5), 0, **decided) == expected


@pytest.mark.parametrize(
    ("position", "decided", "expected"),
    [
        (0, {}, "recalled"),
        (1, {}, "out"),
        (7, {}, "in"),
        (0, {"pinned": True}, "pinned"),
        (0, {"excluded": True}, "excluded"),
    ],
)
def test_what_was_recalled_has_a_mark_of_its_own_where_nothing_else_is_to_be_said(position, decided, expected):
    coverage = Coverage(first_position=5, recalled=(100, 107))
    assert mark(coverage, position, **decided) == expected


def test_messages_are_recalled_once_however_many_passages_of_them_are():
    entries = [RecallEntry(message, 3, 0, 5, True, "2026-11-02", 4, 1.5) for message in (7, 8, 7)]
    assert RecallRecord(included=tuple(entries)).messages == (7, 8)


@pytest.mark.parametrize("share", [0, 0.25])
def test_the_line_says_that_the_model_recalls_where_its_policy_does(share):
    older = [stored(position) for position in range(9, -1, -1)]
    assert coverage_from(older, recall_share=share).recalls == (share > 0)


def test_before_anything_was_sent_everything_is_in_view():
    assert mark(EVERYTHING, 0) == "in"


def test_every_mark_has_a_label():
    assert set(MARK_LABELS) == set(get_args(Mark))


def tool_turn(position, tokens):
    """Return a call, its result and the answer, newest first."""
    call = HistoryMessage(position, PromptMessage("assistant", "", tool_calls=(PromptToolCall("a", "f", "{}"),)), 5)
    result = HistoryMessage(position + 1, PromptMessage("tool", "x" * tokens, tool_call_id="a"), tokens)
    return [stored(position + 2), result, call]


@pytest.mark.parametrize("tokens", [5, 90])
def test_a_reply_is_in_view_with_or_without_what_its_tools_have_said(tokens):
    answer, result, call = tool_turn(7, tokens)
    coverage = coverage_from([answer, result, call, stored(6)])
    assert (coverage.first_position, mark(coverage, 6), mark(coverage, 9)) == (6, "in", "in")


def test_a_reply_before_the_window_is_out_of_view_with_its_steps():
    answer, result, call = tool_turn(3, 5)
    older = [*(stored(position) for position in (9, 8, 7, 6)), answer, result, call, stored(2, 30)]
    coverage = coverage_from(older, low_water_share=0.6, recall_share=0)
    assert (coverage.first_position, mark(coverage, 5)) == (6, "out")
