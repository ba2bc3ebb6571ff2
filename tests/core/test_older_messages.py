"""What a policy is offered, and what it may answer: it is a guest, and may be wrong in any way."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conversations.core.errors import ConversationTooLong, PolicyFailed, PromptError
from conversations.core.window import older_messages as older_module
from conversations.core.window.older_messages import choose_older
from conversations.core.window.policies import Room, SlidingWindow, WholeConversation, WindowPolicy
from tests.support.hypothesis_profile import count_cases

from . import site_policies
from .cases import Case, cases, with_policy
from .languages import message, tool_call, tool_result
from .step_promises import kept_steps

UNCOUNTED = {"overhead_tokens": 0, "lasting_tokens": 1_000_000}
HISTORY = [message(position, f"{position}".ljust(10, ".")) for position in range(10)]


class ConnectionLost(Exception):
    pass


def choose(policy, older=HISTORY, *, room_tokens=1_000, pinned=()):
    room = Room(room_tokens)
    newest_first = reversed(older) if isinstance(older, list) else older
    return choose_older(newest_first, policy=policy, room=room, pinned=pinned, **UNCOUNTED)


def breaking_after(count):
    """Yield *count* messages, newest first, and break as a database does."""
    yield from HISTORY[: -1 - count : -1]
    raise ConnectionLost


class Remembers(WindowPolicy):
    """Notes what it was offered."""

    def choose(self, older, room):
        offered = list(older)
        OFFERED[:] = [unit.position for unit in offered]
        return room.take(offered)


OFFERED = []


def test_a_policy_is_offered_only_what_can_be_sent_newest_first():
    history = [message(0, "a"), message(1, "b", excluded=True), message(2, ""), message(3, "c"), tool_call(4)]
    history += [message(5, "d"), tool_call(6, ids=("x",)), tool_result(7, call_id="x"), message(8, "e")]
    choose(Remembers(), history, pinned={3})
    assert OFFERED == [8, 6, 5, 0]


def test_half_of_a_tool_turn_may_be_pinned_and_it_is_offered_whole():
    choose(Remembers(), [tool_call(0), tool_result(1, "found")], pinned={1})
    assert OFFERED == [0]


@pytest.mark.parametrize("policy", site_policies.FAILING)
def test_a_policy_that_is_wrong_fails_and_is_named_in_no_sentence(policy):
    with pytest.raises(PolicyFailed) as failed:
        choose(policy())
    assert failed.value.detail
    assert failed.value.detail not in str(failed.value)


def test_a_policy_that_chooses_too_much_fails():
    with pytest.raises(PolicyFailed) as failed:
        choose(site_policies.TooMuch(), room_tokens=99)
    assert failed.value.detail == "tests.core.site_policies.TooMuch chose 100 tokens for a room of 99"


def test_a_policy_that_makes_its_room_larger_has_no_more_of_it():
    class Widens(site_policies.TooMuch):
        def choose(self, older, room):
            object.__setattr__(room, "tokens", 10**9)
            return super().choose(older, room)

    with pytest.raises(PolicyFailed):
        choose(Widens(), room_tokens=99)


def test_a_policy_may_choose_as_much_as_there_is_room():
    assert choose(site_policies.TooMuch(), room_tokens=100).tokens == 100


def test_a_policy_may_choose_nothing():
    chosen = choose(site_policies.Nothing())
    assert (chosen.messages, chosen.tokens, chosen.left_out) == ((), 0, ())


def test_what_a_policy_raises_is_kept_for_the_log():
    with pytest.raises(PolicyFailed) as failed:
        choose(site_policies.Raises())
    assert failed.value.detail == "Raises raised KeyError('out of order')"
    assert isinstance(failed.value.__cause__, KeyError)


@pytest.mark.parametrize(
    "policy",
    [
        *(SlidingWindow, WholeConversation, site_policies.EveryOther),
        *(site_policies.SwallowsEveryError, site_policies.RenamesEveryError),
    ],
)
def test_what_breaks_while_reading_is_not_the_policys_fault_nor_its_to_hide(policy):
    with pytest.raises(ConnectionLost):
        choose(policy(), breaking_after(3))


def test_what_would_break_is_not_read_when_it_is_not_needed():
    assert choose(SlidingWindow(low_water_share=1), breaking_after(3), room_tokens=25).tokens == 20


@settings(max_examples=count_cases(1_000))
@given(cases(), st.sampled_from((*site_policies.FAILING, site_policies.TooMuch)))
def test_whatever_a_policy_does_what_is_sent_fits(case, policy):
    wrong = with_policy(case, policy)
    outcome = outcome_of(wrong)
    if case.sendable_units and not isinstance(outcome, PromptError | PolicyFailed):
        assert policy is site_policies.TooMuch or older_is_empty(outcome)
        assert outcome.record.prompt_tokens <= case.budget_tokens


def outcome_of(case: Case):
    try:
        return case.window()
    except (PromptError, PolicyFailed) as error:
        return error


def older_is_empty(window):
    return window.record.parts["older"] == 0


@settings(max_examples=count_cases(500))
@given(cases())
def test_a_policy_that_chooses_nothing_still_sends_the_newest_message(case):
    window = outcome_of(with_policy(case, site_policies.Nothing))
    if not isinstance(window, PromptError):
        assert window.prompt[-1 - len(kept_steps(case))].content.endswith(case.newest.message.content)
        assert older_is_empty(window)


@settings(max_examples=count_cases(500))
@given(cases(), st.integers(0, 20))
def test_a_broken_connection_never_gives_a_window_that_needed_it(case, count):
    """Either what was read before it broke is all that was needed, and the window is the same, or it is raised."""
    expected = outcome_of(case)
    try:
        found = case.window(broken(case, count))
    except ConnectionLost:
        return
    except (PromptError, PolicyFailed) as error:
        found = error
    assert getattr(found, "record", type(found)) == getattr(expected, "record", type(expected))


def broken(case, count):
    for number, stored in enumerate(case.newest_first()):
        if number == count:
            raise ConnectionLost
        yield stored


def test_a_policy_that_takes_all_is_read_no_further_than_shows_that_it_is_too_much():
    older = iter(reversed(HISTORY))
    with pytest.raises(PolicyFailed):
        choose(site_policies.TooMuch(), older, room_tokens=25)
    assert next(older).position == 6


def test_full_reads_no_further_than_shows_that_a_conversation_is_far_too_long(monkeypatch):
    monkeypatch.setattr(older_module, "MOST_TOKENS_OVER", 30)
    older = iter(reversed(HISTORY))
    with pytest.raises(ConversationTooLong) as refused:
        choose(WholeConversation(), older, room_tokens=25)
    assert refused.value.tokens_over == 35, "at least"
    assert next(older).position == 3


def test_of_very_many_that_are_left_out_the_newest_are_named_and_the_others_counted(monkeypatch):
    monkeypatch.setattr(older_module, "MOST_NAMED", 3)
    older = [message(position, "x", excluded=position > 0) for position in range(10)]
    chosen = choose(SlidingWindow(), older)
    assert [left.position for left in chosen.left_out] == [9, 8, 7]
    assert chosen.left_out_unnamed == 6
