import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conversations.core.errors import PromptError
from conversations.core.window.budget import ChatFormat
from conversations.core.window.compute_window import Turn, compute_window
from conversations.core.window.history import Unit
from conversations.core.window.policies import BUILT_IN, Room, SlidingWindow, WindowPolicy
from tests.support.hypothesis_profile import count_cases

from .languages import by_character, language_model, message
from .site_policies import EveryOther

MODEL = language_model(100, reply_reserve_tokens=20, chat_format=ChatFormat())
SMALLEST_TOKENS = 3 + 4 + 1


@pytest.mark.parametrize("name", ["sliding", "last-n-messages", "full"])
def test_every_built_in_policy_can_be_found_by_its_name(name):
    assert BUILT_IN[name].name == name
    assert BUILT_IN[name]().to_json()["name"] == name


def test_a_policy_without_a_name_is_recorded_by_its_path():
    assert EveryOther().to_json()["name"] == "tests.core.site_policies.EveryOther"


def test_its_values_are_recorded():
    assert SlidingWindow(cap_tokens=300).to_json()["cap_tokens"] == 300


@pytest.mark.parametrize(
    "fields",
    [
        {"grounding_share": -0.1},
        {"grounding_share": 1.1},
        {"grounding_share": float("nan")},
        {"recall_share": -0.1},
        {"recall_share": 1.1},
        {"low_water_share": 0},
        {"low_water_share": -0.5},
        {"low_water_share": 1.01},
        {"low_water_share": float("nan")},
        {"last_messages": 0},
        {"last_messages": -3},
        {"cap_tokens": 0},
        {"message_cap_tokens": 0},
        {"reply_reserve_tokens": 0},
        {"reply_reserve_tokens": -1},
    ],
)
def test_a_value_that_makes_no_sense_is_refused(fields):
    (field,) = fields
    with pytest.raises(ValueError, match=field):
        SlidingWindow(**fields)


def test_absurdly_large_limits_do_no_harm():
    SlidingWindow(cap_tokens=10**30, message_cap_tokens=10**30).check_it_holds_a_message(MODEL)


# Together


def test_a_cap_holds_a_message_of_one_token_or_is_refused():
    SlidingWindow(cap_tokens=SMALLEST_TOKENS).check_it_holds_a_message(MODEL)
    with pytest.raises(ValueError, match="cap_tokens must be at least 8"):
        SlidingWindow(cap_tokens=SMALLEST_TOKENS - 1).check_it_holds_a_message(MODEL)


def test_a_reply_reserve_leaves_a_message_of_one_token_or_is_refused():
    SlidingWindow(reply_reserve_tokens=100 - SMALLEST_TOKENS).check_it_holds_a_message(MODEL)
    with pytest.raises(ValueError, match="reply_reserve_tokens leaves 7 of test's 100 tokens"):
        SlidingWindow(reply_reserve_tokens=101 - SMALLEST_TOKENS).check_it_holds_a_message(MODEL)
    with pytest.raises(ValueError, match="reply_reserve_tokens leaves 0"):
        SlidingWindow(reply_reserve_tokens=10_000).check_it_holds_a_message(MODEL)


def test_what_every_prompt_has_counts():
    SlidingWindow(cap_tokens=SMALLEST_TOKENS + 30).check_it_holds_a_message(MODEL, fixed_tokens=30)
    with pytest.raises(ValueError, match="cap_tokens"):
        SlidingWindow(cap_tokens=SMALLEST_TOKENS + 30).check_it_holds_a_message(MODEL, fixed_tokens=31)


@settings(max_examples=count_cases(1_000))
@given(st.one_of(st.none(), st.integers(1, 120)), st.one_of(st.none(), st.integers(1, 120)), st.integers(0, 100))
def test_it_holds_a_message_exactly_if_a_message_of_one_token_can_be_sent(cap_tokens, reserve_tokens, system_length):
    policy = SlidingWindow(cap_tokens=cap_tokens, reply_reserve_tokens=reserve_tokens)
    turn = Turn(message(0, "x", chat_format=ChatFormat()), system_prompt="s" * system_length)
    fixed_tokens = system_length + 4 if system_length else 0
    assert holds_a_message(policy, fixed_tokens) == can_be_sent(policy, turn)


def holds_a_message(policy, fixed_tokens):
    try:
        policy.check_it_holds_a_message(MODEL, fixed_tokens=fixed_tokens)
    except ValueError:
        return False
    return True


def can_be_sent(policy, turn):
    try:
        compute_window(turn, (), language_model=MODEL, policy=policy, count_text=by_character)
    except PromptError:
        return False
    return True


# The room


@settings(max_examples=count_cases(500))
@given(st.integers(0, 60), st.lists(st.integers(0, 30), max_size=8))
def test_a_room_takes_units_until_one_does_not_fit(room_tokens, sizes):
    units = [Unit((message(position, "x" * size),), size, position) for position, size in enumerate(sizes)]
    taken = list(Room(room_tokens).take(units))
    assert taken == units[: len(taken)]
    assert sum(sizes[: len(taken)]) <= room_tokens
    assert taken == units or sum(sizes[: len(taken) + 1]) > room_tokens


def test_a_room_reads_no_further_than_the_first_that_does_not_fit():
    units = iter([Unit((message(position, "x" * 10),), 10, position) for position in range(5)])
    assert len(list(Room(25).take(units))) == 2
    assert next(units).position == 3


def test_a_policy_itself_chooses_nothing():
    with pytest.raises(NotImplementedError):
        WindowPolicy().choose(iter(()), Room(0))
