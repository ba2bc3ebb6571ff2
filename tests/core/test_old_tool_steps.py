"""Tool calls of older replies: a large one is left out, and does not end the view of what is behind it."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conversations.core.errors import ConversationTooLong
from conversations.core.prompt.grounding_text import PromptPassage
from conversations.core.window.policies import LastMessages, SlidingWindow, WholeConversation
from conversations.core.window.truncation import TRUNCATION_MARK
from tests.support.hypothesis_profile import count_cases

from .languages import message, tool_call, tool_result
from .windows import contents, reasons, window

CALL = len("af{}" + "a")  # tokens of a call and its result, whose content is empty


def turn(position, *lengths):
    """Return a question, tool steps that take so many tokens each, and the answer."""
    steps = []
    for place in range(position + 1, position + 1 + 2 * len(lengths), 2):
        result = tool_result(place + 1, "r" * (lengths[(place - position) // 2] - CALL))
        steps += [tool_call(place), result]
    after = position + 1 + len(steps)
    answer = message(after, "answered", role="assistant")
    return [message(position, "asked", role="user"), *steps, answer]


def positions(chosen):
    return [entry.position for entry in chosen.record.entries if entry.kind == "older"]


def test_a_quarter_of_what_older_messages_could_have_is_kept():
    chosen = window(message(4, "newest", role="user"), turn(0, 25))
    assert positions(chosen) == [0, 1, 2, 3]


def test_one_token_more_is_passed_over_and_said_so():
    chosen = window(message(4, "newest", role="user"), turn(0, 26))
    assert positions(chosen) == [0, 3]
    assert reasons(chosen) == {1: "oversized", 2: "oversized"}
    assert chosen.record.messages_before_window == 0


def test_of_the_steps_of_one_reply_the_newest_are_kept():
    chosen = window(message(8, "newest", role="user"), turn(0, 5, 15, 10))
    assert positions(chosen) == [0, 3, 4, 5, 6, 7]
    assert reasons(chosen) == {1: "oversized", 2: "oversized"}


def test_a_small_step_before_a_large_one_is_kept():
    chosen = window(message(8, "newest", role="user"), turn(0, 6, 90, 10))
    assert positions(chosen) == [0, 1, 2, 5, 6, 7]


def test_each_reply_has_a_quarter_of_its_own():
    chosen = window(message(8, "newest", role="user"), turn(0, 20) + turn(4, 20))
    assert positions(chosen) == list(range(8))


def test_system_prompt_tools_and_pins_make_the_quarter_smaller_and_the_question_does_not():
    fixed = {"system_prompt": "s" * 20, "tool_schema_tokens": 12, "pins": [message(4, "p" * 8)]}
    older = [*turn(0, 15), fixed["pins"][0]]
    assert positions(window(message(5, "n", role="user"), older, **fixed)) == [0, 1, 2, 3]
    assert positions(window(message(5, "n" * 20, role="user"), older, **fixed)) == [0, 1, 2, 3]
    assert positions(window(message(5, "n", role="user"), older, **fixed | {"tool_schema_tokens": 13})) == [0, 3]


@pytest.mark.parametrize("policy", [SlidingWindow(), SlidingWindow(low_water_share=1), LastMessages()])
def test_every_policy_that_may_drop_passes_over_it(policy):
    chosen = window(message(4, "newest", role="user"), turn(0, 1_000), policy=policy)
    assert contents(chosen) == ["asked", "answered", "newest"]


def test_the_last_n_are_counted_without_it():
    older = [message(0, "before"), message(1, "said"), *turn(2, 90)]
    chosen = window(message(6, "newest", role="user"), older, policy=LastMessages(last_messages=5))
    assert positions(chosen) == [0, 1, 2, 5]


def test_full_refuses_rather_than_drops_it():
    with pytest.raises(ConversationTooLong):
        window(message(4, "newest", role="user"), turn(0, 90), policy=WholeConversation())
    chosen = window(message(4, "newest", role="user"), turn(0, 60), policy=WholeConversation())
    assert positions(chosen) == [0, 1, 2, 3]


@pytest.mark.parametrize("policy", [SlidingWindow(), LastMessages(), WholeConversation()])
def test_without_tools_no_call_goes_with_a_request(policy):
    chosen = window(message(8, "newest", role="user"), [*turn(0, 6), *turn(4, 6)], policy=policy, has_tools=False)
    assert positions(chosen) == [0, 3, 4, 7]
    assert reasons(chosen) == dict.fromkeys((1, 2, 5, 6), "without_tools")
    assert chosen.record.messages_before_window == 0


def test_an_excluded_tool_turn_takes_nothing_of_the_quarter():
    older = turn(0, 20, 20)
    older[4] = older[4]._replace(excluded=True)
    chosen = window(message(6, "newest", role="user"), older)
    assert positions(chosen) == [0, 1, 2, 5]


def test_a_conversation_that_is_all_large_results_is_seen_to_its_beginning():
    older = [stored for number in range(0, 40, 4) for stored in turn(number, 10_000)]
    chosen = window(message(40, "n", role="user"), older, budget_tokens=200)
    assert len(positions(chosen)) == 20
    assert len(chosen.record.left_out) == 20


@settings(max_examples=count_cases(300))
@given(
    st.lists(st.lists(st.integers(CALL, 80), max_size=4), min_size=2, max_size=25),
    st.lists(st.sampled_from((0, 0, 0, 60, 150)), min_size=25, max_size=25),
    st.sampled_from((0.7, 0.5, 0.9)),
)
def test_what_was_left_out_stays_out_while_the_beginning_stands(turns, groundings, share):
    stored, sent = [], []
    for lengths, grounding in zip(turns, groundings, strict=False):
        question = message(len(stored), "asked", role="user")
        passages = [PromptPassage("g" * grounding)] if grounding else []
        anchor = sent[-1].record.first_position if sent else None
        policy = SlidingWindow(low_water_share=share, grounding_share=1)
        sent.append(window(question, stored, budget_tokens=250, policy=policy, anchor=anchor, grounding=passages))
        stored = [*stored, *turn(len(stored), *lengths)]
    for earlier, later in pairwise(sent):
        if earlier.record.first_position == later.record.first_position:
            begins = earlier.prompt[:-1]
            assert later.prompt[: len(begins)] == begins


# Steps of this turn


def steps(*lengths, arguments="{}"):
    """Return a step for each of *lengths*, the tokens of its result's content, behind a question at position 0."""
    made = []
    for place, length in enumerate(lengths):
        made.append(tool_call(1 + 2 * place, arguments=arguments))
        made.append(tool_result(2 + 2 * place, "r" * length))
    return made


def step_positions(chosen):
    return [entry.position for entry in chosen.record.entries if entry.kind == "tool_step"]


def test_calls_that_take_more_than_half_of_what_is_left_lose_the_oldest():
    chosen = window(message(0, "asked"), steps=steps(500, 500, 500, arguments="x" * 18))
    assert step_positions(chosen) == [5, 6]
    assert reasons(chosen) == dict.fromkeys((4, 3, 2, 1), "does_not_fit")
    assert chosen.record.lost_steps


def test_calls_that_take_half_of_what_is_left_are_all_sent():
    made, smallest = steps(500, 500, arguments="x" * 16), 2 * (len("af") + 16 + len("a") + len(TRUNCATION_MARK))
    chosen = window(message(0, "asked"), steps=made, budget_tokens=len("asked") + 2 * smallest)
    assert step_positions(chosen) == [1, 2, 3, 4]
    assert not chosen.record.lost_steps
    assert step_positions(window(message(0, "ask more"), steps=made, budget_tokens=len("asked") + 2 * smallest)) == [
        3,
        4,
    ]


def test_the_newest_step_is_sent_even_if_its_calls_take_more_than_half():
    chosen = window(message(0, "asked"), steps=steps(500, 500, arguments="x" * 60))
    assert step_positions(chosen) == [3, 4]
    assert chosen.record.parts["free"] >= 0


def test_what_was_left_out_of_older_turns_is_no_lost_step():
    chosen = window(message(4, "asked", role="user"), turn(0, 90), steps=[])
    assert chosen.record.left_out
    assert not chosen.record.lost_steps


def test_a_record_without_a_question_has_lost_no_steps():
    record = window(message(0, "asked")).record
    assert not replace(record, entries=()).lost_steps


def test_full_cuts_results_rather_than_refuse_for_them():
    older = [message(0, "q" * 30, role="user"), message(1, "a" * 30)]
    chosen = window(message(2, "asked", role="user"), older, steps=stepped_after(2, 1_000), policy=WholeConversation())
    assert positions(chosen) == [0, 1]
    assert chosen.record.entries[-1].truncated_to is not None


def stepped_after(position, length):
    return [tool_call(position + 1), tool_result(position + 2, "r" * length)]
