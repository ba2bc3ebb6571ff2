"""The window by example. That the same holds for any conversation is in test_window_promises."""

import pytest

from conversations.core.errors import (
    MessageTooLong,
    MessageTooLongForScenario,
    PinsTooLong,
    PromptError,
    SystemPromptTooLong,
    ToolSchemasTooLong,
)
from conversations.core.prompt.grounding_text import PromptPassage
from conversations.core.window.budget import ChatFormat
from conversations.core.window.policies import SlidingWindow

from .languages import message, tool_call, tool_result
from .windows import contents, exchange, window

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


def test_a_budget_too_small_for_any_message_blames_no_one():
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
    assert chosen.record.messages_before_window == chosen.record.first_position - 1 > 0


def test_an_excluded_or_empty_pin_is_not_sent():
    pins = [message(0, "secret", excluded=True), message(1, "")]
    assert contents(window(message(2, "newest"), pins, pins=pins)) == ["newest"]


def test_a_pinned_tool_call_goes_with_its_result():
    older = [tool_call(0), tool_result(1, "found")]
    chosen = window(message(2, "newest"), older, pins=older[:1])
    assert [entry.kind for entry in chosen.record.entries] == ["older", "older", "newest"]


# The record


def test_the_record_says_where_the_seen_part_begins():
    record = window(message(20, "x" * 10), exchange(20)).record
    assert (record.first_position, record.messages_before_window) == (11, 11)


def test_a_conversation_that_fits_has_nothing_unseen():
    record = window(message(3, "newest"), exchange(3)).record
    assert (record.first_position, record.messages_before_window) == (0, 0)


def test_pins_that_touch_the_seen_part_are_part_of_it():
    older = exchange(3)
    record = window(message(3, "newest"), older, pins=older[:2]).record
    assert (record.first_position, record.messages_before_window) == (0, 0)


def test_a_window_of_one_message_begins_with_it():
    record = window(message(4, "x" * 100), exchange(4)).record
    assert (record.first_position, record.messages_before_window) == (4, 4)


def test_the_record_holds_no_words():
    older, passages = [message(0, "secret")], [PromptPassage("secret", source="a.txt")]
    chosen = window(message(1, "secret"), older, system_prompt="secret", grounding=passages, budget_tokens=500)
    assert "secret" in str(chosen.prompt)
    assert "secret" not in str(chosen.record.to_json())
