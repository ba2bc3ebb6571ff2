"""The built-in policies. That each does what it says for any conversation is in test_window_promises."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conversations.core.window import policies
from conversations.core.window.history import group_into_units
from conversations.core.window.policies import DEFAULT_RECALL_SHARE, LastMessages, Room, SlidingWindow
from tests.support.hypothesis_profile import count_cases

from .dialogue import SYSTEM_PROMPT, Dialogue
from .languages import message, tool_call, tool_result

LENGTHS = st.integers(1, 20)
TURNS = st.lists(st.tuples(LENGTHS, LENGTHS), min_size=2, max_size=50)
SHARES = st.sampled_from((0.7, 0.5, 0.9))


def exchange(count, *, length=10):
    return [message(position, "x" * length) for position in range(count)]


def choose(policy, older, room_tokens, *, anchor=None):
    """Return the positions at which the chosen units begin, newest first."""
    newest_first = iter(list(reversed(older)))
    units = group_into_units(newest_first, overhead_tokens=0)
    return [unit.position for unit in policy.choose(units, Room(room_tokens, anchor))]


# Steps


def test_without_an_anchor_it_takes_all_that_fits():
    assert choose(SlidingWindow(), exchange(10), 100) == list(range(9, -1, -1))


def test_it_begins_where_it_began_while_all_from_there_on_fits():
    assert choose(SlidingWindow(), exchange(20), 100, anchor=10) == list(range(19, 9, -1))


def test_one_token_too_much_is_a_step_down_to_the_low_water_mark():
    assert choose(SlidingWindow(low_water_share=0.7), exchange(20), 99, anchor=10) == [19, 18, 17, 16, 15, 14]


def test_a_step_down_fills_the_mark_exactly():
    assert choose(SlidingWindow(low_water_share=0.6), exchange(20), 100, anchor=9) == [19, 18, 17, 16, 15, 14]
    assert choose(SlidingWindow(low_water_share=0.6), exchange(20), 99, anchor=9) == [19, 18, 17, 16]


def test_after_a_step_it_begins_with_a_question():
    """The reply at position 15 would fit as well."""
    assert choose(SlidingWindow(low_water_share=0.5), exchange(20), 100, anchor=0) == [19, 18, 17, 16]


def test_a_window_of_replies_alone_is_better_than_none():
    older = [message(position, "x" * 10, role="assistant") for position in range(20)]
    assert choose(SlidingWindow(low_water_share=0.5), older, 100, anchor=0) == [19, 18, 17, 16, 15]


def test_a_step_does_not_lose_the_last_answer_because_it_is_larger_than_the_mark():
    older = [*exchange(4), message(4, "asked"), message(5, "x" * 80)]
    assert choose(SlidingWindow(), older, 100, anchor=0) == [5, 4, 3]


def test_half_of_the_mark_is_enough_to_stay():
    assert choose(SlidingWindow(low_water_share=0.8), exchange(20), 100, anchor=16) == [19, 18, 17, 16]


def test_less_than_half_of_the_mark_is_filled_again():
    assert choose(SlidingWindow(low_water_share=0.8), exchange(20), 100, anchor=17) == list(range(19, 11, -1))


def test_a_short_conversation_stays_however_little_it_is():
    assert choose(SlidingWindow(), exchange(3), 1_000, anchor=0) == [2, 1, 0]


def test_an_anchor_inside_a_tool_turn_leaves_out_the_whole_turn():
    older = [message(0, "a" * 10), tool_call(1), tool_result(2, "found"), message(3, "b" * 40)]
    assert choose(SlidingWindow(), older, 100, anchor=2) == [3]


@pytest.mark.parametrize("anchor", [20, 21, 10_000])
def test_an_anchor_beyond_the_end_is_filled_again(anchor):
    assert choose(SlidingWindow(), exchange(20), 100, anchor=anchor) == list(range(19, 13, -1))


def test_it_reads_no_further_than_one_unit_before_the_anchor():
    newest_first = iter(list(reversed(exchange(100))))
    units = group_into_units(newest_first, overhead_tokens=0)
    list(SlidingWindow().choose(units, Room(100, 92)))
    assert next(newest_first).position == 90


@settings(max_examples=count_cases(200))
@given(TURNS, st.integers(0, 300), st.integers(0, 130), st.booleans())
def test_with_the_mark_at_the_brim_it_is_the_naive_window_for_any_anchor(turns, room_tokens, anchor, skip):
    policy = SlidingWindow(low_water_share=1, skip_oversized=skip)
    lengths = [length for turn in turns for length in turn]
    older = [message(position, "x" * length) for position, length in enumerate(lengths)]
    chosen = choose(policy, older, room_tokens, anchor=anchor)
    assert chosen == choose(policy, older, room_tokens)
    if not skip:
        units = group_into_units(reversed(older), overhead_tokens=0)
        assert chosen == [unit.position for unit in Room(room_tokens).take(units)]


# In dialogues


def test_a_long_dialogue_takes_few_steps_where_the_naive_window_moves_at_every_turn():
    stepping, naive = Dialogue(), Dialogue(policy=SlidingWindow(low_water_share=1))
    for dialogue in (stepping, naive):
        for _ in range(100):
            dialogue.say(10, 10)
    assert len(naive.moves) > 75
    assert len(stepping.moves) < 20


def before_the_question(window):
    """Return system prompt and older messages."""
    return window.prompt[:-1]


@settings(max_examples=count_cases(200))
@given(TURNS, SHARES, st.sampled_from((90, 200, 400)), st.lists(st.sampled_from((0, 0, 0, 40, 200)), max_size=60))
def test_between_two_steps_each_prompt_begins_with_the_one_before(turns, share, budget_tokens, groundings):
    dialogue = Dialogue(budget_tokens, SlidingWindow(low_water_share=share))
    for (length, reply_length), grounding in zip(turns, groundings + [0] * len(turns), strict=False):
        dialogue.say(length, reply_length, grounding_length=grounding)
    assert before_the_question(dialogue.windows[0])[0].content == SYSTEM_PROMPT
    for earlier, later in pairwise(dialogue.windows):
        if later.record.first_position == earlier.record.first_position:
            begins, goes_on = before_the_question(earlier), before_the_question(later)
            assert goes_on[: len(begins)] == begins
            assert len(goes_on) == len(begins) + len(("question", "reply"))


@settings(max_examples=count_cases(200))
@given(TURNS, SHARES, st.sampled_from((0, DEFAULT_RECALL_SHARE)))
def test_a_step_comes_only_when_as_much_was_said_as_the_last_step_made_room_for(turns, share, recall_share):
    dialogue, longest = Dialogue(policy=SlidingWindow(low_water_share=share, recall_share=recall_share)), 20
    for turn in turns:
        dialogue.say(*turn)
    said = [sum(turn) for turn in turns]
    most_older_tokens = (1 - recall_share) * (dialogue.budget_tokens - len(SYSTEM_PROMPT))
    for step, next_step in pairwise(dialogue.moves):
        assert sum(said[step:next_step]) > (1 - share) * most_older_tokens - longest


@settings(max_examples=count_cases(200))
@given(TURNS, SHARES)
def test_a_step_never_moves_the_beginning_back_while_nothing_else_changes(turns, share):
    dialogue = Dialogue(policy=SlidingWindow(low_water_share=share))
    beginnings = [dialogue.say(*turn).record.first_position for turn in turns]
    assert beginnings == sorted(beginnings)


@settings(max_examples=count_cases(200))
@given(st.lists(st.tuples(LENGTHS, LENGTHS), min_size=20, max_size=40), SHARES, st.integers(100, 160))
def test_a_large_grounding_shortens_memory_only_while_it_is_sent(turns, share, grounding_length):
    dialogue = Dialogue(policy=SlidingWindow(low_water_share=share, grounding_share=1))
    for turn in turns[:-1]:
        dialogue.say(*turn)
    grounded = dialogue.say(*turns[-1], grounding_length=grounding_length)
    after = dialogue.window(10)
    assert grounded.record.grounding.tokens >= grounding_length
    half_of_mark_tokens = int(share * after.record.older_limit_tokens) / 2
    assert not after.record.messages_before_window or after.record.parts["older"] >= half_of_mark_tokens


def test_the_calls_of_a_turn_leave_the_beginning_of_its_prompt_as_it_was():
    dialogue = Dialogue()
    for _ in range(15):
        dialogue.say(10, 10)
    steps = (tool_call(31), tool_result(32, "found"))
    question, called = dialogue.window(10), dialogue.window(10, steps=steps)
    assert called.prompt == (*question.prompt, *(step.message for step in steps))


# Passing over what is too large


def with_giants(*giants):
    return [message(position, "x" * (100 if position in giants else 10)) for position in range(10)]


def test_what_no_step_could_hold_is_passed_over_if_the_policy_says_so():
    policy = SlidingWindow(skip_oversized=True)
    assert choose(policy, with_giants(7), 90) == [9, 8, 6, 5, 4, 3, 2, 1, 0]
    assert choose(SlidingWindow(), with_giants(7), 90) == [9, 8]


def test_what_a_step_could_hold_is_not_passed_over_but_makes_it_step():
    older = [message(position, "x" * (60 if position == 5 else 10)) for position in range(10)]
    assert choose(SlidingWindow(skip_oversized=True), older, 99) == [9, 8, 7, 6]


@pytest.mark.parametrize("share", [0.7, 1])
@pytest.mark.parametrize("anchor", [None, 0])
def test_it_does_not_read_a_whole_conversation_to_pass_over_it(monkeypatch, share, anchor):
    monkeypatch.setattr(policies, "MOST_SKIPPED", 3)
    newest_first = (message(position, "x" * 100) for position in range(1_000, 0, -1))
    units = group_into_units(newest_first, overhead_tokens=0)
    policy = SlidingWindow(skip_oversized=True, low_water_share=share)
    assert list(policy.choose(units, Room(90, anchor))) == []
    assert next(newest_first).position == 996


# The last n


def test_each_message_of_a_tool_turn_is_one_of_the_last():
    older = [*exchange(2), message(2, "asked"), tool_call(3), tool_result(4, "found"), message(5, "answered")]
    assert choose(LastMessages(last_messages=5), older, 100) == [5, 3, 2]
    assert choose(LastMessages(last_messages=4), older, 100) == []


def test_the_last_one_is_the_newest_alone():
    assert choose(LastMessages(last_messages=1), exchange(4), 100) == []


@pytest.mark.parametrize(
    ("policy", "room_tokens"),
    [(LastMessages(last_messages=2), 1_000), (LastMessages(last_messages=20), 15)],
    ids=["only the last reply is one of them", "no more than the last reply fits"],
)
def test_replies_without_their_question_are_not_among_the_last(policy, room_tokens):
    assert choose(policy, exchange(4), room_tokens) == []
