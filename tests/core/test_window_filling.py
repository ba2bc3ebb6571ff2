"""What fills a window once all that must be in it is: tool steps, grounding and older messages, by example."""

import json

import pytest

from conversations.core.errors import ConversationTooLong, ToolStepsTooLong
from conversations.core.prompt.grounding_text import PromptPassage
from conversations.core.window.policies import LastMessages, SlidingWindow, WholeConversation
from conversations.core.window.truncation import TRUNCATION_MARK

from .languages import message, tool_call, tool_result
from .windows import contents, exchange, reasons, window

# Older messages


def test_it_evicts_the_oldest_messages_first():
    chosen = window(message(20, "x" * 10), exchange(20))
    assert contents(chosen)[:-1] == [kept.message.content for kept in exchange(20)[11:]]
    assert reasons(chosen) == {10: "does_not_fit"}


def test_it_reads_one_message_more_than_fits():
    older = iter(reversed(exchange(20)))
    window(message(20, "x" * 10), older)
    assert next(older).position == 9


def test_it_stops_at_a_message_that_is_too_large():
    older = [message(0, "small"), message(1, "l" * 100), message(2, "small")]
    assert contents(window(message(3, "newest"), older)) == ["small", "newest"]


def test_it_may_skip_a_message_that_is_too_large():
    older = [message(0, "small"), message(1, "l" * 100), message(2, "other")]
    chosen = window(message(3, "newest"), older, policy=SlidingWindow(skip_oversized=True, low_water_share=1))
    assert contents(chosen) == ["small", "other", "newest"]
    assert reasons(chosen) == {1: "oversized"}


def test_last_n_counts_the_newest_message():
    chosen = window(message(20, "newest"), exchange(20), policy=LastMessages(last_messages=4))
    assert [entry.position for entry in chosen.record.entries] == [18, 19, 20]
    assert reasons(chosen) == {17: "policy"}


def test_last_n_begins_at_a_question():
    chosen = window(message(20, "newest"), exchange(20), policy=LastMessages(last_messages=5))
    assert [entry.role for entry in chosen.record.entries] == ["user", "assistant", "user", "assistant", "user"]


def test_last_n_takes_all_of_a_short_conversation():
    chosen = window(message(2, "newest"), exchange(2), policy=LastMessages(last_messages=4))
    assert len(chosen.prompt) == 3


def test_last_n_never_exceeds_the_budget():
    chosen = window(message(20, "newest"), exchange(20), policy=LastMessages(last_messages=20))
    assert chosen.record.prompt_tokens <= 100
    assert chosen.prompt[0].role == "user"


def test_full_refuses_rather_than_drops():
    with pytest.raises(ConversationTooLong) as refused:
        window(message(10, "x" * 10), exchange(10), policy=WholeConversation())
    assert refused.value.tokens_over == 10


def test_full_refuses_by_everything_that_is_too_much_not_only_the_first():
    with pytest.raises(ConversationTooLong) as refused:
        window(message(30, "x" * 10), exchange(30), policy=WholeConversation())
    assert refused.value.tokens_over == 210


def test_full_does_not_miss_what_no_one_wants_sent():
    older = [message(0, "x" * 500, excluded=True), message(1, ""), message(2, "kept")]
    assert contents(window(message(3, "newest"), older, policy=WholeConversation())) == ["kept", "newest"]


def test_a_tool_turn_is_left_out_whole():
    older = [message(0, "asked"), tool_call(1), tool_result(2, "r" * 90), message(3, "answered")]
    chosen = window(message(4, "newest"), older)
    assert contents(chosen) == ["asked", "answered", "newest"]
    assert reasons(chosen) == {1: "oversized", 2: "oversized"}


def test_a_tool_turn_without_a_result_is_left_out():
    older = [message(0, "asked"), tool_call(1, ids=("a", "b")), tool_result(2, "one of two", call_id="a")]
    chosen = window(message(4, "newest"), older)
    assert contents(chosen) == ["asked", "newest"]
    assert reasons(chosen) == {1: "incomplete_tool_turn", 2: "incomplete_tool_turn"}


# Grounding


def test_grounding_comes_before_the_question():
    chosen = window(message(0, "how far?"), grounding=[PromptPassage("It is far.")], budget_tokens=1_000)
    assert chosen.prompt[0].content.index("It is far.") < chosen.prompt[0].content.index("how far?")


def test_grounding_never_takes_more_than_its_share():
    passages = [PromptPassage("So far. " * 100), PromptPassage("Too far.")]
    chosen = window(
        message(0, "how far?"), grounding=passages, budget_tokens=800, policy=SlidingWindow(grounding_share=0.5)
    )
    assert TRUNCATION_MARK in chosen.prompt[0].content
    assert 380 < chosen.record.grounding.tokens <= chosen.record.grounding.limit_tokens == 400


def test_grounding_gives_way_to_the_question():
    chosen = window(message(0, "x" * 100), grounding=[PromptPassage("It is far.")])
    assert contents(chosen) == ["x" * 100]
    assert [passage.number for passage in chosen.record.grounding.left_out] == [1]


def test_older_messages_give_way_to_grounding():
    older, passages = exchange(10, length=50), [PromptPassage("It is far. " * 30)]
    without = window(message(10, "how far?"), older, budget_tokens=600)
    grounded = window(message(10, "how far?"), older, budget_tokens=600, grounding=passages)
    assert len(grounded.prompt) < len(without.prompt)
    assert grounded.record.grounding.included[0].truncated_to is None


def test_full_takes_older_messages_before_grounding():
    older, passages = exchange(10, length=50), [PromptPassage("It is far. " * 30)]
    grounded = window(message(10, "how far?"), older, budget_tokens=600, grounding=passages, policy=WholeConversation())
    assert grounded.record.parts["older"] == 500
    assert grounded.record.grounding.limit_tokens == 600 - 500 - len("how far?")


# Tool steps


def test_the_steps_of_the_turn_follow_its_question():
    steps = [tool_call(1), tool_result(2, "found")]
    chosen = window(message(0, "newest"), steps=steps)
    assert [entry.kind for entry in chosen.record.entries] == ["newest", "tool_step", "tool_step"]
    assert contents(chosen) == ["newest", "", "found"]


def test_a_result_too_large_is_cut_and_marked():
    steps = [tool_call(1), tool_result(2, "found " * 100)]
    chosen = window(message(0, "newest"), steps=steps)
    truncated_to = chosen.record.entries[-1].truncated_to
    assert 50 < truncated_to < 70
    assert contents(chosen)[-1] == f"{('found ' * 100)[:truncated_to]} {TRUNCATION_MARK}"


def test_older_messages_and_grounding_give_way_to_steps():
    steps = [tool_call(1_000), tool_result(1_001, "found " * 100)]
    chosen = window(message(30, "newest"), exchange(30), steps=steps, grounding=[PromptPassage("It is far.")])
    parts = chosen.record.parts
    assert parts["tool_steps"] > 3 * (parts["older"] + parts["grounding"])


def test_arguments_that_can_not_fit_are_cut_like_results():
    steps = [tool_call(1, arguments=json.dumps({"note": "x" * 40_000})), tool_result(2, "found " * 100)]
    chosen = window(message(0, "newest"), steps=steps)
    [_, called, result] = chosen.prompt
    [call] = called.tool_calls
    truncated_to = chosen.record.entries[1].truncated_to
    assert json.loads(call.arguments) == {"truncated": f"{steps[0].message.tool_calls[0].arguments[:truncated_to]} […]"}
    assert result.content.endswith(TRUNCATION_MARK)
    assert chosen.record.prompt_tokens <= 100


def test_steps_that_do_not_fit_even_when_cut_are_refused():
    steps = [tool_call(1, ids=("a" * 90,)), tool_result(2, "found " * 100, call_id="a" * 90)]
    with pytest.raises(ToolStepsTooLong) as refused:
        window(message(0, "newest"), steps=steps)
    assert refused.value.tokens_over == len("newest" + "a" * 90 + "f" + "{}" + "a" * 90 + TRUNCATION_MARK) - 100


@pytest.mark.parametrize(
    "steps", [[tool_call(1)], [tool_result(1)], [message(1, "said")], [tool_call(1, ids=("a", "b")), tool_result(2)]]
)
def test_what_is_not_calls_with_their_results_is_no_step(steps):
    with pytest.raises(ValueError, match="the steps of a turn are calls with their results"):
        window(message(0, "newest"), steps=steps)


def test_excluded_messages_at_the_beginning_are_not_out_of_view_for_lack_of_room():
    older = [message(0, "a", excluded=True), message(1, "b", excluded=True), message(2, "c")]
    record = window(message(3, "newest"), older).record
    assert (record.first_position, record.messages_before_window) == (0, 0)
    assert {left.position: left.reason for left in record.left_out} == {0: "excluded", 1: "excluded"}


def test_what_is_included_again_is_seen_as_long_as_there_is_room():
    def older(*, excluded):
        return [message(0, "a" * 40, excluded=excluded), message(1, "b" * 40)]

    anchor = window(message(2, "newest"), older(excluded=True), policy=SlidingWindow()).record.first_position
    again = window(message(2, "newest"), older(excluded=False), anchor=anchor, policy=SlidingWindow())
    assert len(again.prompt) == 3
