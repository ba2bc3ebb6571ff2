"""The promises of the window, on more than 20,000 random conversations."""

import random
import re
from dataclasses import replace
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from conversations.core.errors import (
    ConversationTooLong,
    MessageTooLong,
    PromptError,
    SystemPromptTooLong,
    ToolStepsTooLong,
)
from conversations.core.prompt.grounding_text import PromptPassage
from conversations.core.window.compute_window import Turn, compute_window
from conversations.core.window.policies import SlidingWindow, WholeConversation
from conversations.core.window.truncation import TRUNCATION_MARK
from tests.support.hypothesis_profile import count_cases

from . import refusal_promises
from .cases import BYTES, Choices, cases, make_case, text, with_policy
from .languages import by_character, by_piece, by_quarter, language_model, message
from .step_promises import kept_steps
from .window_promises import PROMISES

FAR_TOO_LONG = "x" * 1_000


def check_promises(case):
    case = case.with_newest_as_sent()
    try:
        window = case.window()
    except PromptError as error:
        for promise in refusal_promises.PROMISES:
            promise(case, error)
    else:
        for promise in PROMISES:
            promise(case, window)


@settings(max_examples=count_cases(12_000))
@given(cases(by_character))
def test_every_promise_holds_where_one_character_is_one_token(case):
    check_promises(case)


@settings(max_examples=count_cases(4_000))
@given(cases(by_quarter))
def test_every_promise_holds_where_joined_texts_have_fewer_tokens(case):
    check_promises(case)


@settings(max_examples=count_cases(4_000))
@given(cases(by_piece))
def test_every_promise_holds_where_tokens_reach_across_texts(case):
    check_promises(case)


def happenings(case):
    """Yield a word for each thing that happens in the window of *case*."""
    try:
        window = case.window()
    except PromptError as error:
        yield error.code
        return
    yield from (entry.kind for entry in window.record.entries)
    yield from (entry.role for entry in window.record.entries)
    yield from (message.reason for message in window.record.left_out)
    yield from (f"pictures {entry.pictures} {entry.kind}" for entry in window.record.entries if entry.pictures)
    yield from (
        "whole passage" if passage.truncated_to is None else "cut passage"
        for passage in window.record.grounding.included
    )
    yield from ("cut recall" if recalled.is_cut else "whole recall" for recalled in window.record.recall.included)
    yield from ["recall left out"] if window.record.recall.left_out else []
    yield from [window.record.summary.left_out or "summary sent"] if window.record.summary else []
    yield from ["lost step"] if window.record.lost_steps else []
    yield from ("whole step" if truncated_to is None else "cut step" for truncated_to in cuts_of_steps(window))
    yield beginning_of(case, window)


def cuts_of_steps(window):
    return [entry.truncated_to for entry in window.record.entries if entry.kind == "tool_step"]


def beginning_of(case, window):
    if case.anchor is None:
        return "no anchor"
    first_position = window.record.first_position
    return "stayed" if first_position == case.anchor else "moved on" if first_position > case.anchor else "moved back"


def test_the_random_conversations_see_everything_happen():
    randomness = random.Random(2)
    seen = [word for _ in range(2_000) for word in happenings(make_case(Choices(randomness.randbytes(BYTES))))]
    rare = {word for word in set(seen) if seen.count(word) < 5}
    assert not rare
    assert set(seen) == {
        *("system", "about_me", "notes", "pin", "summary", "older", "newest", "tool_step"),
        *("user", "assistant", "tool"),
        *("whole passage", "cut passage", "whole step", "cut step", "lost step"),
        *("whole recall", "cut recall", "recall left out"),
        *("summary sent", "above_cap", "all_in_view"),
        *("no anchor", "stayed", "moved on", "moved back"),
        *("does_not_fit", "oversized", "excluded", "failed", "empty", "incomplete_tool_turn", "policy"),
        *("prompt_too_long", "system_prompt_too_long", "tool_schemas_too_long", "pins_too_long"),
        *("about_me_too_long", "notes_too_long"),
        *(f"pictures {sent} older" for sent in ("auto", "high", "low", "not_shown", "shown_earlier")),
        *(f"pictures {sent} newest" for sent in ("auto", "high", "low", "not_shown", "shown_earlier")),
        *(f"pictures {sent} pin" for sent in ("high", "low", "auto", "not_shown", "shown_earlier")),
        "pictures_too_long",
        *("message_too_long", "message_too_long_for_scenario", "tool_steps_too_long", "conversation_too_long"),
    }


@settings(max_examples=count_cases(500))
@given(cases())
def test_a_message_shortened_by_the_tokens_over_fits_and_by_one_less_does_not(case):
    case = replace(with_policy(case.with_newest(FAR_TOO_LONG), SlidingWindow), steps=())
    over = tokens_over(case, MessageTooLong)
    if over:
        assert tokens_over(case.with_newest(FAR_TOO_LONG[over - 1 :]), MessageTooLong) == 1
        assert case.with_newest(FAR_TOO_LONG[over:]).window()


@settings(max_examples=count_cases(1_000))
@given(cases())
def test_tool_steps_fit_as_soon_as_there_are_as_many_tokens_more_as_was_said(case):
    case = replace(with_policy(case, SlidingWindow, cap_tokens=None), calibration=Decimal(1))
    case = replace(case, newest_with_less_detail=None)
    over = tokens_over(case, ToolStepsTooLong)
    if over:
        assert tokens_over(with_room(case, over - 1), ToolStepsTooLong) == 1
        window = with_room(case, over).window()
        assert window.record.parts["free"] == 0
        sent = [message for message in window.prompt[-len(kept_steps(case)) :] if message.role == "tool"]
        assert all(message.content in ("", TRUNCATION_MARK) for message in sent)


@settings(max_examples=count_cases(500))
@given(cases())
def test_a_system_prompt_shortened_by_the_tokens_over_fits_and_by_one_less_does_not(case):
    over = tokens_over(replace(case, system_prompt=FAR_TOO_LONG), SystemPromptTooLong)
    if over and over < len(FAR_TOO_LONG):
        shorter = replace(case, system_prompt=FAR_TOO_LONG[over - 1 :])
        assert tokens_over(shorter, SystemPromptTooLong) == 1
        assert not tokens_over(replace(case, system_prompt=FAR_TOO_LONG[over:]), SystemPromptTooLong)


@settings(max_examples=count_cases(1_000))
@given(cases())
def test_full_takes_everything_as_soon_as_there_are_as_many_tokens_more_as_it_said(case):
    case = replace(case, policy=WholeConversation(), steps=(), calibration=Decimal(1), newest_with_less_detail=None)
    over = tokens_over(case, ConversationTooLong)
    if over:
        assert tokens_over(with_room(case, over - 1), ConversationTooLong) == 1
        record = with_room(case, over).window().record
        assert record.prompt_tokens == record.budget_tokens
        assert record.grounding.tokens == 0  # it gets what the conversation leaves


def tokens_over(case, culprit):
    """Return the tokens over if *culprit* is to blame, 0 if nothing or something else is."""
    try:
        case.window()
    except PromptError as error:
        return error.tokens_over if isinstance(error, culprit) else 0
    return 0


def with_room(case, tokens):
    old = case.language_model
    return replace(case, language_model=replace(old, context_window_tokens=old.context_window_tokens + tokens))


@settings(max_examples=count_cases(1_000))
@given(st.integers(60, 400), st.lists(st.tuples(st.integers(0, 90), st.integers(0, 40)), min_size=2, max_size=6))
def test_a_grounding_is_sent_with_its_own_question_and_never_again(context_window_tokens, turns):
    stored = []
    for number, (grounding_length, content_length) in enumerate(turns):
        question = message(2 * number, text("asked", content_length))
        passage = PromptPassage(f"looked up for {number}: " + text("found", grounding_length))
        prompt = window_of(question, stored, passage, context_window_tokens).prompt
        earlier = {kept.message for kept in stored}
        assert set(prompt[:-1]) <= earlier
        assert re.findall(r"looked up for (\d)", prompt[-1].content) in ([], [str(number)])
        stored += [question, message(2 * number + 1, "answered")]


def window_of(newest, stored, passage, context_window_tokens):
    return compute_window(
        Turn(newest, grounding=[passage]),
        reversed(stored),
        language_model=language_model(context_window_tokens, reply_reserve_tokens=1),
        policy=SlidingWindow(grounding_share=0.9),
        count_text=by_character,
    )
