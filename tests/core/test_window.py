"""The window by example. That the same holds for any conversation is in test_window_promises."""

import pytest

from conversations.core.budget import ChatFormat
from conversations.core.cutting import CUT_MARK
from conversations.core.errors import (
    ConversationTooLong,
    MessageTooLong,
    MessageTooLongForScenario,
    PinsTooLong,
    PromptError,
    SystemPromptTooLong,
    ToolSchemasTooLong,
    ToolStepsTooLong,
)
from conversations.core.policies import LastMessages, SlidingWindow, WholeConversation
from conversations.core.prompt import Passage
from conversations.core.window import Turn, compute_window

from .languages import by_character, language_model, message, tool_call, tool_result

SLIDING = SlidingWindow(grounding_share=1.0, low_water_share=1)


def window(newest, older=(), *, budget_tokens=100, policy=SLIDING, chat_format=None, anchor=None, **turn):
    """Compute a window; *older* is oldest first, and a token is a character unless *chat_format* adds some."""
    fields = {"chat_format": chat_format} if chat_format else {}
    return compute_window(
        Turn(newest, **turn),
        reversed(older) if isinstance(older, list | tuple) else older,
        language_model=language_model(budget_tokens + 20, reply_reserve_tokens=20, **fields),
        policy=policy,
        count_text=by_character,
        anchor=anchor,
    )


def contents(chosen):
    return [sent.content for sent in chosen.prompt]


def reasons(chosen):
    return {left.position: left.reason for left in chosen.record.left_out}


def exchange(count, *, length=10):
    """Return *count* messages of *length* tokens that begin with their position."""
    return [message(position, f"{position}".ljust(length, ".")) for position in range(count)]


# What must fit


def test_a_message_alone_is_the_whole_prompt():
    chosen = window(message(0, "hello"))
    assert contents(chosen) == ["hello"]
    assert chosen.record.prompt_tokens == 5


def test_a_message_that_fills_the_budget_exactly_is_sent():
    assert window(message(0, "x" * 100)).record.prompt_tokens == 100


def test_a_message_one_token_over_the_budget_is_refused():
    with pytest.raises(MessageTooLong) as refused:
        window(message(0, "x" * 101))
    assert refused.value.tokens_over == 1


def test_a_message_one_token_over_the_policys_own_cap_is_refused():
    with pytest.raises(MessageTooLong) as refused:
        window(message(0, "x" * 31), policy=SlidingWindow(message_cap_tokens=30))
    assert refused.value.tokens_over == 1


def test_the_larger_excess_is_the_one_that_is_told():
    with pytest.raises(MessageTooLong) as refused:
        window(message(0, "x" * 120), policy=SlidingWindow(message_cap_tokens=30))
    assert refused.value.tokens_over == 90


def test_a_message_of_a_megabyte_is_refused_without_reading_history():
    with pytest.raises(MessageTooLong):
        window(message(0, "x" * 1_000_000), older=unreadable())


def unreadable():
    raise AssertionError("history was read")
    yield


@pytest.mark.parametrize(
    ("culprit", "turn"),
    [
        (SystemPromptTooLong, {"system_prompt": "s" * 110}),
        (ToolSchemasTooLong, {"tool_schema_tokens": 110}),
        (PinsTooLong, {"pins": [message(0, "p" * 60), message(1, "q" * 50)]}),
    ],
)
def test_what_is_too_long_is_named(culprit, turn):
    with pytest.raises(PromptError) as refused:
        window(message(2, "hello"), **turn)
    assert type(refused.value) is culprit
    assert refused.value.tokens_over == 11  # 110 and one for the shortest message, of 100


def test_a_message_too_long_only_beside_the_scenario_says_so():
    with pytest.raises(MessageTooLong) as refused:
        window(message(0, "x" * 96), system_prompt="brief")
    assert type(refused.value) is MessageTooLongForScenario
    assert refused.value.tokens_over == 1


def test_a_message_too_long_for_any_scenario_says_so():
    with pytest.raises(MessageTooLong) as refused:
        window(message(0, "x" * 101), system_prompt="brief")
    assert type(refused.value) is MessageTooLong
    assert refused.value.tokens_over == 6


def test_a_policys_own_reply_reserve_replaces_the_language_models():
    policy = SlidingWindow(reply_reserve_tokens=50)
    assert window(message(0, "x" * 70), policy=policy).record.reply_reserve_tokens == 50
    with pytest.raises(MessageTooLong):
        window(message(0, "x" * 71), policy=policy)


def test_a_reply_reserve_that_leaves_nothing_is_refused_and_not_a_negative_remainder():
    with pytest.raises(PromptError) as refused:
        window(message(0, "x"), policy=SlidingWindow(reply_reserve_tokens=1_000))
    assert refused.value.tokens_over == 881


def test_ten_thousand_pins_are_refused_by_their_tokens_without_reading_history():
    with pytest.raises(PinsTooLong) as refused:
        window(message(10_000, "x"), older=unreadable(), pins=exchange(10_000))
    assert refused.value.tokens_over == 100_001 - 100


def test_someone_is_asked_to_shorten_only_what_shortening_helps():
    """With no token left for any message, it is the system prompt that is too long and not the message."""
    with pytest.raises(SystemPromptTooLong):
        window(message(0, "x"), system_prompt="s" * 100)


def test_a_budget_too_small_for_any_message_blames_nobody():
    with pytest.raises(PromptError) as refused:
        window(message(0, "x"), budget_tokens=7, chat_format=ChatFormat())
    assert type(refused.value) is PromptError
    assert refused.value.tokens_over == 1


# The order


def test_the_prompt_begins_with_what_changes_least():
    older = [message(0, "first"), message(1, "second"), message(2, "third"), message(3, "fourth")]
    chosen = window(message(4, "newest"), older, system_prompt="be brief", pins=[older[1]])
    assert contents(chosen) == ["be brief", "second", "first", "third", "fourth", "newest"]


def test_a_pin_is_sent_once_however_near_it_is():
    older = exchange(3)
    chosen = window(message(3, "newest"), older, pins=[older[2]])
    assert [entry.kind for entry in chosen.record.entries] == ["pin", "older", "older", "newest"]


def test_a_pin_stays_when_its_neighbours_are_gone():
    older = exchange(30)
    chosen = window(message(30, "newest"), older, pins=[older[0]])
    assert contents(chosen)[0] == older[0].message.content
    assert chosen.record.unseen_messages == chosen.record.first_position - 1 > 0


def test_an_excluded_or_empty_pin_is_not_sent():
    pins = [message(0, "secret", excluded=True), message(1, "")]
    assert contents(window(message(2, "newest"), pins, pins=pins)) == ["newest"]


def test_a_pinned_tool_call_goes_with_its_result():
    older = [tool_call(0), tool_result(1, "found")]
    chosen = window(message(2, "newest"), older, pins=older[:1])
    assert [entry.kind for entry in chosen.record.entries] == ["older", "older", "newest"]


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
    assert [entry.position for entry in chosen.record.entries] == [17, 18, 19, 20]
    assert reasons(chosen) == {16: "policy"}


def test_last_n_takes_all_of_a_short_conversation():
    chosen = window(message(2, "newest"), exchange(2), policy=LastMessages(last_messages=4))
    assert len(chosen.prompt) == 3


def test_last_n_never_exceeds_the_budget():
    chosen = window(message(20, "newest"), exchange(20), policy=LastMessages(last_messages=20))
    assert chosen.record.prompt_tokens <= 100
    assert list(reasons(chosen).values()) == ["does_not_fit"]


def test_full_refuses_rather_than_drops():
    with pytest.raises(ConversationTooLong) as refused:
        window(message(10, "x" * 10), exchange(10), policy=WholeConversation())
    assert refused.value.tokens_over == 10


def test_full_refuses_by_everything_that_is_too_much_not_only_the_first():
    with pytest.raises(ConversationTooLong) as refused:
        window(message(30, "x" * 10), exchange(30), policy=WholeConversation())
    assert refused.value.tokens_over == 210


def test_full_does_not_miss_what_nobody_wants_sent():
    older = [message(0, "x" * 500, excluded=True), message(1, ""), message(2, "kept")]
    assert contents(window(message(3, "newest"), older, policy=WholeConversation())) == ["kept", "newest"]


def test_a_tool_turn_is_left_out_whole():
    older = [message(0, "asked"), tool_call(1), tool_result(2, "r" * 90), message(3, "answered")]
    chosen = window(message(4, "newest"), older)
    assert contents(chosen) == ["answered", "newest"]
    assert reasons(chosen) == {1: "does_not_fit", 2: "does_not_fit"}


def test_a_tool_turn_without_a_result_is_left_out():
    older = [message(0, "asked"), tool_call(1, ids=("a", "b")), tool_result(2, "one of two", call_id="a")]
    chosen = window(message(4, "newest"), older)
    assert contents(chosen) == ["asked", "newest"]
    assert reasons(chosen) == {1: "incomplete_tool_turn", 2: "incomplete_tool_turn"}


# Grounding


def test_grounding_comes_before_the_question():
    chosen = window(message(0, "how far?"), grounding=[Passage("It is far.")], budget_tokens=1_000)
    assert chosen.prompt[0].content.index("It is far.") < chosen.prompt[0].content.index("how far?")


def test_grounding_never_takes_more_than_its_share():
    passages = [Passage("So far. " * 100), Passage("Too far.")]
    chosen = window(
        message(0, "how far?"), grounding=passages, budget_tokens=800, policy=SlidingWindow(grounding_share=0.5)
    )
    assert CUT_MARK in chosen.prompt[0].content
    assert 380 < chosen.record.grounding.tokens <= chosen.record.grounding.limit_tokens == 400


def test_grounding_gives_way_to_the_question():
    chosen = window(message(0, "x" * 100), grounding=[Passage("It is far.")])
    assert contents(chosen) == ["x" * 100]
    assert [passage.number for passage in chosen.record.grounding.left_out] == [1]


def test_older_messages_give_way_to_grounding():
    older, passages = exchange(10, length=50), [Passage("It is far. " * 30)]
    without = window(message(10, "how far?"), older, budget_tokens=600)
    grounded = window(message(10, "how far?"), older, budget_tokens=600, grounding=passages)
    assert len(grounded.prompt) < len(without.prompt)
    assert grounded.record.grounding.included[0].cut_to is None


def test_full_takes_older_messages_before_grounding():
    older, passages = exchange(10, length=50), [Passage("It is far. " * 30)]
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
    cut_to = chosen.record.entries[-1].cut_to
    assert 50 < cut_to < 70
    assert contents(chosen)[-1] == f"{('found ' * 100)[:cut_to]} {CUT_MARK}"


def test_older_messages_and_grounding_give_way_to_steps():
    steps = [tool_call(1_000), tool_result(1_001, "found " * 100)]
    chosen = window(message(30, "newest"), exchange(30), steps=steps, grounding=[Passage("It is far.")])
    parts = chosen.record.parts
    assert parts["tool_steps"] > 3 * (parts["older"] + parts["grounding"])


def test_steps_that_do_not_fit_even_when_cut_are_refused():
    steps = [tool_call(1, arguments="x" * 90), tool_result(2, "found " * 100)]
    with pytest.raises(ToolStepsTooLong) as refused:
        window(message(0, "newest"), steps=steps)
    assert refused.value.tokens_over == len("newest" + "a" + "f" + "x" * 90 + "a" + CUT_MARK) - 100


@pytest.mark.parametrize(
    "steps", [[tool_call(1)], [tool_result(1)], [message(1, "said")], [tool_call(1, ids=("a", "b")), tool_result(2)]]
)
def test_what_is_not_calls_with_their_results_is_no_step(steps):
    with pytest.raises(ValueError, match="the steps of a turn are calls with their results"):
        window(message(0, "newest"), steps=steps)


# The record


def test_the_record_says_where_the_seen_part_begins():
    record = window(message(20, "x" * 10), exchange(20)).record
    assert (record.first_position, record.unseen_messages) == (11, 11)


def test_a_conversation_that_fits_has_nothing_unseen():
    record = window(message(3, "newest"), exchange(3)).record
    assert (record.first_position, record.unseen_messages) == (0, 0)


def test_a_window_of_one_message_begins_with_it():
    record = window(message(4, "x" * 100), exchange(4)).record
    assert (record.first_position, record.unseen_messages) == (4, 4)


def test_the_record_holds_no_words():
    older, passages = [message(0, "secret")], [Passage("secret", source="a.txt")]
    chosen = window(message(1, "secret"), older, system_prompt="secret", grounding=passages, budget_tokens=500)
    assert "secret" in str(chosen.prompt)
    assert "secret" not in str(chosen.record.to_json())
