"""Calls are put together from whatever pieces a server sends."""

from __future__ import annotations

import re

import pytest

from conversations.core.prompt.messages import PromptToolCall
from conversations.providers.openai_api.completion_stream import MOST_CALLS, ToolCallCollector, ToolCallDelta


def asked(*deltas, is_cut=False):
    calls = ToolCallCollector()
    for delta in deltas:
        calls.take(ToolCallDelta(*delta))
    return calls.calls(step=3, is_cut=is_cut)


def test_pieces_with_one_number_are_one_call():
    assert asked((0, "a", "look", '{"x"'), (0, "", "", ": 1}")) == (PromptToolCall("a", "look", '{"x": 1}'),)


def test_pieces_that_repeat_id_and_name_are_one_call():
    assert asked((0, "a", "look", '{"x"'), (0, "a", "look", ": 1}")) == (PromptToolCall("a", "look", '{"x": 1}'),)


def test_pieces_of_two_calls_may_alternate():
    calls = asked((0, "a", "look", "{"), (1, "b", "see", "{"), (0, "", "", "}"), (1, "", "", "}"))
    assert calls == (PromptToolCall("a", "look", "{}"), PromptToolCall("b", "see", "{}"))


@pytest.mark.parametrize("ids", [("a", "b"), ("", "")])
def test_calls_that_all_have_the_same_number_are_told_apart(ids):
    calls = asked(*((0, id_, "look", f'{{"x": {place}}}') for place, id_ in enumerate(ids)))
    assert [call.arguments for call in calls] == ['{"x": 0}', '{"x": 1}']
    assert len({call.id for call in calls}) == 2


def test_ids_that_are_missing_or_repeated_or_too_long_are_made_up():
    calls = asked((0, "a", "look", ""), (1, "a", "look", ""), (2, "", "look", ""), (3, "x" * 101, "look", ""))
    assert [call.id for call in calls[:3]] == ["a", "call_3_1", "call_3_2"]
    assert re.fullmatch(r"call_[0-9a-f]{24}", calls[3].id)


def test_ids_that_are_too_long_are_kept_beside_the_calls_and_made_up_each_its_own():
    long, other = "x" * 101, "y" * 101
    calls = ToolCallCollector()
    for number, call_id in enumerate((long, "a", long, other)):
        calls.take(ToolCallDelta(number, call_id, "look", "{}"))
    assert calls.long_ids == [long, None, None, other]
    assert len({call.id for call in calls.calls(step=1)}) == 4


def test_no_arguments_are_an_empty_object():
    assert asked((0, "a", "look", ""))[0].arguments == "{}"


def test_arguments_that_were_cut_before_they_began_are_none():
    assert [call.arguments for call in asked((0, "a", "look", ""), (1, "b", "look", ""), is_cut=True)] == ["{}", ""]


def test_an_emoji_in_two_pieces_is_one():
    assert asked((0, "a", "look", '{"x": "\ud83d'), (0, "", "", '\ude00\x00"}'))[0].arguments == '{"x": "😀"}'


def test_more_calls_than_anybody_means_are_left_out_but_counted():
    calls = ToolCallCollector()
    for number in range(1000):
        calls.take(ToolCallDelta(number, "", "look", "{}"))
    assert len(calls.calls(step=1)) == MOST_CALLS
    assert calls.text == "look{}" * 1000


def test_a_name_that_comes_with_every_piece_begins_no_other_call():
    assert asked((0, "", "look", '{"x": {}'), (0, "", "look", "}")) == (
        PromptToolCall("call_3_0", "look", '{"x": {}}'),
    )


def test_a_signature_may_come_late_and_twice_and_the_last_one_counts():
    calls = ToolCallCollector()
    calls.take(ToolCallDelta(0, "a", "look", "{", {"extra_content": {"signature": "first"}}))
    calls.take(ToolCallDelta(1, "b", "see", "{}"))
    calls.take(ToolCallDelta(0, "", "", "}", {"extra_content": {"signature": "last"}}))
    calls.take(ToolCallDelta(1, "", "", "", {"extra_content": {"signature": "late"}}))
    assert calls.kept == [{"extra_content": {"signature": "last"}}, {"extra_content": {"signature": "late"}}]
    assert [call.arguments for call in calls.calls(step=1)] == ["{}", "{}"]
