"""What the predecessors of this project did, row by row: the window does all of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from conversations.core.errors import MessageTooLong, MessageTooLongForScenario, SystemPromptTooLong
from conversations.core.prompt.grounding_text import PromptPassage
from conversations.core.window.compute_window import Turn, compute_window
from conversations.core.window.policies import SlidingWindow
from conversations.core.window.truncation import TRUNCATION_MARK
from conversations.providers.tokens.tokenizer import chat_format
from conversations.window_policies import make_policy
from tests.core.languages import by_character, language_model, message, tool_call, tool_result
from tests.support import example_policy

EXAMPLE_POLICY = "tests.support.example_policy.LastFourMessages"
NAIVE = SlidingWindow(low_water_share=1)


def window(turn, older=(), *, model=None, policy=NAIVE):
    """Compute a window of 1,000 tokens, characters all; *older* is oldest first."""
    model = model or language_model(1_000, reply_reserve_tokens=100)
    return compute_window(turn, reversed(older), language_model=model, policy=policy, count_text=by_character)


def contents(chosen):
    return [sent.content for sent in chosen.prompt]


def exchange(count, *, length=100):
    return [message(position, f"message {position} ".ljust(length, ".")) for position in range(count)]


# JetchatAI, sliding window (2023-08-31)


def test_jetchatai_sliding_keeps_the_system_message_and_fills_up_with_the_newest():
    chosen = window(Turn(message(20, "and now?"), "be brief"), exchange(20))
    assert contents(chosen) == ["be brief", *(kept.message.content for kept in exchange(20)[12:]), "and now?"]


def test_jetchatai_sliding_expects_500_tokens_for_the_reply():
    model = language_model(1_000, reply_reserve_tokens=500)
    record = window(Turn(message(20, "and now?")), exchange(20), model=model).record
    assert (record.reply_reserve_tokens, record.budget_tokens) == (500, 500)
    assert record.prompt_tokens + record.reply_reserve_tokens <= record.context_window_tokens


def test_jetchatai_sliding_stops_at_what_does_not_fit_or_goes_on_with_smaller_ones():
    older = [message(0, "small"), message(1, "x" * 2_000), message(2, "other")]
    stopping, going_on = NAIVE, SlidingWindow(low_water_share=1, skip_oversized=True)
    assert contents(window(Turn(message(3, "newest")), older, policy=stopping)) == ["other", "newest"]
    assert contents(window(Turn(message(3, "newest")), older, policy=going_on)) == ["small", "other", "newest"]


def test_jetchatai_sliding_is_recomputed_after_a_functions_result():
    question, steps = message(20, "how warm?"), (tool_call(21), tool_result(22, "sunny, " * 50))
    before = window(Turn(question), exchange(20))
    after = window(Turn(question, steps=steps), exchange(20))
    assert after.prompt[-2:] == tuple(step.message for step in steps)
    assert after.record.first_position > before.record.first_position
    assert after.record.prompt_tokens <= after.record.budget_tokens


# JetchatAI, de-duplicated context (2023-09-07)


def test_jetchatai_deduplicated_sends_grounding_only_with_the_current_message():
    first = message(0, "how far?")
    grounded = window(Turn(first, grounding=[PromptPassage("It is far.")]))
    later = window(Turn(message(2, "how long?"), grounding=[PromptPassage("It is long.")]), [first, message(1, "far")])
    assert "It is far." in contents(grounded)[0]
    assert contents(later)[:2] == ["how far?", "far"]
    assert "It is far." not in str(later.prompt)


def test_jetchatai_deduplicated_cuts_grounding_that_is_too_large():
    passages = [
        PromptPassage("It is far. " * 20),
        PromptPassage("It is very far. " * 20),
        PromptPassage("Nobody knows."),
    ]
    chosen = window(Turn(message(0, "how far?"), grounding=passages))
    included = chosen.record.grounding.included
    assert [(passage.number, passage.truncated_to is None) for passage in included] == [(1, True), (2, False)]
    assert TRUNCATION_MARK in contents(chosen)[0]
    assert chosen.record.grounding.tokens <= 450


def test_jetchatai_deduplicated_never_loses_the_question_to_its_own_grounding():
    question = "how far? " * 95
    chosen = window(Turn(message(0, question), grounding=[PromptPassage("It is far. " * 500)]))
    assert contents(chosen)[-1].endswith(question)


def test_jetchatai_deduplicated_logs_each_decision():
    older = [message(0, "x" * 900), message(1, "never", excluded=True), message(2, "kept")]
    record = window(Turn(message(3, "newest"), grounding=[PromptPassage("It is far. " * 500)]), older).record
    assert [(entry.kind, entry.position) for entry in record.entries] == [("older", 2), ("newest", 3)]
    assert [(left.position, left.reason) for left in record.left_out] == [(1, "excluded"), (0, "does_not_fit")]
    assert record.grounding.included[0].truncated_to
    assert sum(record.parts.values()) == record.budget_tokens


# kani


def test_kani_always_includes_some_messages_beside_the_system_prompt_and_the_newest():
    older = exchange(50)
    chosen = window(Turn(message(50, "newest"), "be brief", pins=older[:2]), older)
    assert contents(chosen)[:3] == ["be brief", older[0].message.content, older[1].message.content]
    assert contents(chosen)[-1] == "newest"


def test_kani_keeps_the_desired_response_tokens_free():
    record = window(Turn(message(0, "x" * 600)), policy=SlidingWindow(reply_reserve_tokens=400)).record
    assert (record.reply_reserve_tokens, record.budget_tokens) == (400, 600)
    with pytest.raises(MessageTooLong):
        window(Turn(message(0, "x" * 601)), policy=SlidingWindow(reply_reserve_tokens=400))


def test_kani_lets_a_policy_of_ones_own_choose_as_in_the_example_of_ten_lines():
    assert len(Path(example_policy.__file__).read_text().splitlines()) == 10
    policy = make_policy(EXAMPLE_POLICY, {})
    chosen = window(Turn(message(20, "newest"), "be brief"), exchange(20, length=20), policy=policy)
    assert [entry.position for entry in chosen.record.entries] == [None, 17, 18, 19, 20]
    assert chosen.record.policy["name"] == EXAMPLE_POLICY


def test_kani_policy_of_ones_own_keeps_to_the_budget_too():
    policy = make_policy(EXAMPLE_POLICY, {"cap_tokens": 250})
    record = window(Turn(message(20, "newest")), exchange(20), policy=policy).record
    assert [entry.position for entry in record.entries] == [18, 19, 20]


# Endless Chat: one message of at most 3,500 tokens, all of at most 3,700 of gpt-3.5-turbo-0301's 4,096

ENDLESS_FORMAT = chat_format("gpt-3.5-turbo-0301")
ENDLESS_MODEL = language_model(4_096, reply_reserve_tokens=396, chat_format=ENDLESS_FORMAT)
ENDLESS_POLICY = SlidingWindow(message_cap_tokens=3_500, cap_tokens=3_700, low_water_share=1)
OVERHEAD_TOKENS = 5  # four for a message, one for its role
PRIMING_TOKENS = 3


def endless(turn, older=()):
    return window(turn, older, model=ENDLESS_MODEL, policy=ENDLESS_POLICY)


def said(length, position=0):
    return message(position, "x" * length, chat_format=ENDLESS_FORMAT)


def test_endless_chat_always_sends_the_scenario_and_the_newest_message():
    older = [said(100, position) for position in range(200)]
    chosen = endless(Turn(said(3_000, 200), "a scenario"), older)
    assert contents(chosen)[0] == "a scenario"
    assert contents(chosen)[-1] == "x" * 3_000
    assert 3_595 < chosen.record.prompt_tokens <= 3_700


def test_endless_chat_counts_four_tokens_a_message_and_three_for_priming():
    assert (ENDLESS_FORMAT.tokens_per_message, ENDLESS_FORMAT.priming_tokens) == (4, PRIMING_TOKENS)
    assert endless(Turn(said(100))).record.prompt_tokens == 100 + OVERHEAD_TOKENS + PRIMING_TOKENS


def test_endless_chat_takes_a_message_of_3500_tokens_and_not_one_more():
    assert endless(Turn(said(3_500)))
    with pytest.raises(MessageTooLong):
        endless(Turn(said(3_501)))
    with pytest.raises(MessageTooLong) as refused:
        endless(Turn(said(3_507)))
    assert type(refused.value) is MessageTooLong
    assert str(refused.value) == "Your message is 7 tokens too long. Shorten it and send it again."


def test_endless_chat_says_when_the_scenario_is_too_long():
    longest = 3_700 - PRIMING_TOKENS - 2 * OVERHEAD_TOKENS - 1
    assert endless(Turn(said(1), "s" * longest)).record.prompt_tokens == 3_700
    with pytest.raises(SystemPromptTooLong) as refused:
        endless(Turn(said(1), "s" * (longest + 7)))
    assert "7 tokens too long" in str(refused.value)


def test_endless_chat_says_when_the_scenario_and_the_message_are_too_long_together():
    longest = 3_700 - PRIMING_TOKENS - 2 * OVERHEAD_TOKENS - 3_000
    assert endless(Turn(said(3_000), "s" * longest)).record.prompt_tokens == 3_700
    with pytest.raises(MessageTooLongForScenario) as refused:
        endless(Turn(said(3_000), "s" * (longest + 7)))
    assert "7 tokens too long to fit beside the system prompt" in str(refused.value)


def test_endless_chat_leaves_396_of_4096_tokens_to_the_reply():
    record = endless(Turn(said(3_000, 60)), [said(50, position) for position in range(60)]).record
    assert record.context_window_tokens - record.prompt_tokens >= 396
