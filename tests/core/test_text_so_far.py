"""What a reply says so far, in the window that continues it."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conversations.core.errors import PromptError, TextSoFarTooLong
from conversations.core.prompt.continuation import CONTINUE_REQUEST, may_be_continued
from conversations.core.prompt.messages import PromptMessage
from conversations.core.prompt.prompt_format import PromptFormat
from conversations.core.prompt.written_prompt import write_prompt
from conversations.core.window.compute_window import compute_window
from conversations.core.window.policies import WholeConversation
from conversations.core.window.text_so_far import LEAST_CHARACTERS
from conversations.core.window.truncation import TRUNCATION_MARK
from tests.support.hypothesis_profile import count_cases

from . import window_promises
from .cases import cases, text
from .languages import by_character, by_piece, by_quarter, message, tool_call, tool_result
from .windows import contents, exchange, window

PROMISES = (
    window_promises.never_over_budget,
    window_promises.the_reply_has_the_room_that_was_reserved,
    window_promises.the_prompt_as_rendered_counts_what_the_record_says,
    window_promises.the_parts_are_the_budget,
    window_promises.what_is_stored_is_sent_word_for_word,
    window_promises.a_tool_result_follows_its_call,
    window_promises.the_record_survives_storage,
)
REQUEST_TOKENS = len(CONTINUE_REQUEST)
REPLY = 99  # its position, behind everything else


def continued(case, said):
    """Return the window of *case* that continues a reply which has *said* so much."""
    reply = case.message(REPLY, said, role="assistant")
    roomy = replace(case.language_model, context_window_tokens=case.language_model.context_window_tokens + 300)
    case = replace(case, language_model=roomy)
    return case, compute_window(
        replace(case.turn, text_so_far=reply),
        case.newest_first(),
        language_model=case.language_model,
        policy=case.policy,
        count_text=case.count_text,
        anchor=case.anchor,
        calibration=case.calibration,
    )


def check(case, said):
    case = replace(case, newest_with_less_detail=None)
    try:
        case, chosen = continued(case, said)
    except PromptError:
        return
    for promise in PROMISES:
        promise(case, chosen)
    sent, request = chosen.prompt[-2:]
    entry, last = chosen.record.entries[-2:]
    assert request == PromptMessage("user", CONTINUE_REQUEST)
    assert (entry.kind, entry.position, last.kind) == ("text_so_far", REPLY, "continue_request")
    assert chosen.record.parts["text_so_far"] == entry.tokens + last.tokens
    assert entry.sent_to == len(said)
    assert sent.role == "assistant"
    if entry.sent_from:
        assert sent.content == f"{TRUNCATION_MARK} {said[entry.sent_from :]}"
        assert len(said) - entry.sent_from >= LEAST_CHARACTERS
        assert not chosen.record.parts["grounding"] or case.policy.refuses_to_drop
    else:
        assert sent.content == said


SAID = st.integers(1, 900).map(lambda length: text("said", length))


@settings(max_examples=count_cases(2_000))
@given(cases(by_character), SAID)
def test_a_continuation_keeps_the_promises_where_one_character_is_one_token(case, said):
    check(case, said)


@settings(max_examples=count_cases(1_000))
@given(st.sampled_from((by_quarter, by_piece)).flatmap(cases), SAID)
def test_a_continuation_keeps_the_promises_in_other_languages(case, said):
    check(case, said)


def test_the_text_so_far_and_the_request_to_go_on_come_last():
    chosen = window(
        message(2, "why?"), exchange(2), budget_tokens=1_000, text_so_far=message(3, "Because", role="assistant")
    )
    assert contents(chosen)[-3:] == ["why?", "Because", CONTINUE_REQUEST]
    assert [each.role for each in chosen.prompt[-3:]] == ["user", "assistant", "user"]


def test_it_comes_behind_the_calls_that_were_made_before():
    steps = (tool_call(1, ids=("a",)), tool_result(2, "found", call_id="a"))
    chosen = window(
        message(0, "why?"), budget_tokens=1_000, steps=steps, text_so_far=message(3, "Because", role="assistant")
    )
    assert contents(chosen)[1:] == ["", "found", "Because", CONTINUE_REQUEST]


def test_of_too_long_a_text_the_end_is_sent_from_a_word_on():
    said = "word " * 400
    reply = message(1, said, role="assistant")
    chosen = window(message(0, "why?"), budget_tokens=REQUEST_TOKENS + 204, text_so_far=reply)
    sent = contents(chosen)[1]
    assert sent == f"{TRUNCATION_MARK} {said[-195:]}"
    assert len(sent) <= 200
    [entry] = [each for each in chosen.record.entries if each.kind == "text_so_far"]
    assert (entry.sent_from, entry.sent_to) == (len(said) - 195, len(said))


def test_it_is_sent_before_older_messages_are():
    said = "x" * 150
    reply = message(3, said, role="assistant")
    chosen = window(message(2, "why?"), exchange(2), budget_tokens=REQUEST_TOKENS + 160, text_so_far=reply)
    assert contents(chosen) == ["why?", said, CONTINUE_REQUEST]


def test_a_policy_that_drops_nothing_leaves_the_text_what_is_left():
    said = "x" * 500
    older = exchange(6)
    chosen = window(
        message(6, "why?"),
        older,
        policy=WholeConversation(),
        budget_tokens=REQUEST_TOKENS + 64 + 200,
        text_so_far=message(7, said, role="assistant"),
    )
    assert contents(chosen)[:6] == [each.message.content for each in older]
    assert len(contents(chosen)[-2]) == 200


def test_without_room_for_its_end_nothing_is_sent():
    said = message(1, "x" * 500, role="assistant")
    least = REQUEST_TOKENS + len(TRUNCATION_MARK) + 1 + LEAST_CHARACTERS
    with pytest.raises(TextSoFarTooLong) as raised:
        window(message(0, "why?"), budget_tokens=4 + least - 1, text_so_far=said)
    assert raised.value.tokens_over == 1
    assert contents(window(message(0, "why?"), budget_tokens=4 + least, text_so_far=said))


def test_the_cache_is_told_of_the_question_and_not_of_the_request_to_go_on():
    prompt = (
        PromptMessage("user", "one"),
        PromptMessage("assistant", "two"),
        PromptMessage("user", "three"),
        PromptMessage("assistant", "fou"),
        PromptMessage("user", CONTINUE_REQUEST),
    )
    written = write_prompt(prompt, PromptFormat(breakpoints="anthropic"))
    assert [place for place, each in enumerate(written) if isinstance(each["content"], list)] == [1]


@pytest.mark.parametrize(
    ("state", "error_code", "finish_reason", "expected"),
    [
        ("interrupted", "reply_interrupted", "", True),
        ("interrupted", "money_used_up", "", True),
        ("failed", "stream_broken", "", True),
        ("failed", "provider_rejected", "", False),
        ("complete", "", "stop", False),
        ("complete", "", "length", True),
        ("complete", "", "MAX_TOKENS", True),
        ("complete", "", "content_filter", False),
        ("stopped", "", "stopped", False),
        ("streaming", "", "", False),
    ],
)
def test_what_was_cut_off_may_be_continued(state, error_code, finish_reason, expected):
    kept = {"state": state, "error_code": error_code, "finish_reason": finish_reason}
    assert may_be_continued(content="Because", **kept) == expected
    assert not may_be_continued(content=" \n", **kept)
