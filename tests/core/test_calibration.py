from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.core.window.budget import budget_tokens
from conversations.core.window.calibration import (
    FEWEST_PAIRS,
    LARGEST_RATIO,
    MARGIN,
    NEWEST_PAIRS,
    Pair,
    RefusedPrompt,
    believable_limit,
    error_distribution,
    learned_ratio,
    smallest_prompt_tokens,
)

from .languages import language_model

tokens = st.integers(0, 10_000_000)
pairs = st.lists(st.builds(Pair, tokens, tokens), min_size=FEWEST_PAIRS, max_size=NEWEST_PAIRS)
ratios = st.decimals("1", "2", places=4)


def reports(ratio, count=FEWEST_PAIRS):
    return [Pair(10_000, int(10_000 * Decimal(ratio)))] * count


def test_a_tokenizer_that_counts_a_fifth_more_is_learned():
    assert learned_ratio(reports("1.2")) == Decimal("1.2")


def test_a_few_pairs_are_not_believed():
    assert learned_ratio(reports("1.2", FEWEST_PAIRS - 1)) is None


def test_a_model_that_is_counted_exactly_or_too_high_is_left_alone():
    assert learned_ratio(reports("1")) == learned_ratio(reports("0.7")) == 1


@pytest.mark.parametrize("reported_tokens", [0, 10**9])
def test_one_absurd_report_changes_nothing(reported_tokens):
    assert learned_ratio([*reports("1.1"), Pair(10_000, reported_tokens)]) == Decimal("1.1")


def test_usage_that_counts_the_cache_twice_takes_half_of_the_window_at_most():
    assert learned_ratio(reports("2.9")) == LARGEST_RATIO


def test_the_ratio_is_rounded_up():
    assert learned_ratio([Pair(3_000, 3_001)] * FEWEST_PAIRS) == Decimal("1.0004")


@given(pairs)
def test_the_ratio_is_never_below_1_nor_above_2_and_fits_its_column(some):
    ratio = learned_ratio(some)
    assert 1 <= ratio <= LARGEST_RATIO
    assert -ratio.as_tuple().exponent <= 4


@given(pairs)
def test_nineteen_prompts_of_twenty_are_counted_high_enough(some):
    ratio = learned_ratio(some)
    too_low = sum(min(pair.ratio, LARGEST_RATIO) > ratio for pair in some)
    assert too_low <= len(some) / 20


@given(pairs, st.builds(Pair, tokens, tokens))
def test_a_single_report_moves_the_ratio_no_further_than_to_the_next_one(some, absurd):
    """Whatever one report says: the ratio stays within what the others have shown."""
    others = [min(max(pair.ratio, Decimal(1)), LARGEST_RATIO) for pair in some]
    assert learned_ratio([*some, absurd]) <= max(others) + Decimal("0.0001")


@given(pairs, st.randoms())
def test_the_order_of_the_pairs_does_not_matter(some, random):
    shuffled = random.sample(some, len(some))
    assert learned_ratio(shuffled) == learned_ratio(some)


def test_short_prompts_teach_nothing():
    assert smallest_prompt_tokens(128_000) == 1_000
    assert smallest_prompt_tokens(4_096) == 512


def test_errors_are_counted_between_fixed_edges():
    errors = ["0.5", "0.8", "0.98", "1", "1.009", "1.01", "1.199", "1.2", "1.9", "2", "30"]
    assert error_distribution(reports(ratio, 1)[0] for ratio in errors) == [1, 1, 0, 1, 2, 1, 0, 1, 1, 1, 2]


@given(st.lists(st.builds(Pair, tokens, tokens)))
def test_every_error_is_counted_once(some):
    assert sum(error_distribution(some)) == len(some)


@pytest.mark.parametrize("stated", [None, -1, 0, 5, 1_023, 8_192, 8_193, 10**12])
def test_a_limit_that_is_none_is_not_believed(stated):
    assert believable_limit(stated, context_window_tokens=8_192) is None


@pytest.mark.parametrize("stated", [1_024, 6_000, 8_191])
def test_a_smaller_limit_is_believed(stated):
    assert believable_limit(stated, context_window_tokens=8_192) == stated


def next_budget(refused, model, calibration="1", cap_tokens=None):
    """Return the budget after *refused*, divided as the window divides it."""
    calibration = Decimal(calibration)
    limit_tokens, room_tokens = model.context_window_tokens, budget_tokens(model, cap_tokens=cap_tokens)
    tightening = refused.tightening(limit_tokens=limit_tokens, room_tokens=room_tokens, calibration=calibration)
    return budget_tokens(model, cap_tokens=cap_tokens, calibration=calibration * tightening)


def test_a_named_count_tightens_by_what_was_counted_and_a_margin():
    refused = RefusedPrompt(3_000, reply_reserve_tokens=1_000, counted_tokens=3_600)
    assert next_budget(refused, language_model(4_000, reply_reserve_tokens=1_000)) == int(
        3_000 / Decimal("1.2") / MARGIN
    )


def test_what_calibration_allows_for_already_is_not_allowed_for_twice():
    refused = RefusedPrompt(2_500, reply_reserve_tokens=1_000, counted_tokens=3_250)
    model = language_model(4_000, reply_reserve_tokens=1_000)
    assert next_budget(refused, model, "1.2") == pytest.approx(3_000 / 1.3 / 1.1, abs=1)


def test_a_smaller_limit_alone_is_reason_enough():
    """The limit has been learned: what it leaves is less than the prompt that was refused."""
    refused = RefusedPrompt(9_000, reply_reserve_tokens=1_000)
    assert next_budget(refused, language_model(6_000, reply_reserve_tokens=1_000)) == int(5_000 / MARGIN)


def test_a_prompt_that_fits_beside_a_smaller_reply_may_be_sent_again():
    refused = RefusedPrompt(10, reply_reserve_tokens=5_000)
    assert next_budget(refused, language_model(4_000, reply_reserve_tokens=1_000)) > 10


def test_without_numbers_the_next_prompt_is_half_as_long():
    """However much of the budget it had used: half of the budget might still hold all of it."""
    refused = RefusedPrompt(2_000, reply_reserve_tokens=4_000)
    assert next_budget(refused, language_model(128_000, reply_reserve_tokens=4_000)) == pytest.approx(1_000, abs=20)


@pytest.mark.parametrize("counted", [0, 1, 10**9])
def test_an_absurd_count_is_none(counted):
    assert RefusedPrompt(2_000, 1_000, counted).ratio == 1


models = st.builds(
    lambda window, reserve: language_model(window, reply_reserve_tokens=min(reserve, window - 1)),
    st.integers(1_024, 1_000_000),
    st.integers(1, 5_000),
)
refusals = st.builds(RefusedPrompt, st.integers(1, 1_000_000), st.integers(1, 5_000), st.none() | tokens)


@given(refusals, models, ratios, st.none() | st.integers(1, 10_000))
def test_the_next_prompt_is_within_the_limit_as_the_provider_counts(refused, model, calibration, cap_tokens):
    budget = next_budget(refused, model, calibration, cap_tokens)
    assert budget * max(refused.ratio, calibration) <= budget_tokens(model)


@given(refusals, models, ratios, st.none() | st.integers(1, 10_000))
def test_the_same_prompt_is_not_sent_again_unless_its_reply_was_too_long(refused, model, calibration, cap_tokens):
    budget = next_budget(refused, model, calibration, cap_tokens)
    assert budget < refused.estimated_tokens or model.reply_reserve_tokens < refused.reply_reserve_tokens


@given(refusals, tokens, st.integers(-10_000, 0), ratios)
def test_no_room_at_all_is_left_to_the_window(refused, limit_tokens, room_tokens, calibration):
    assert refused.tightening(limit_tokens=limit_tokens, room_tokens=room_tokens, calibration=calibration) >= 1


def test_without_numbers_the_reply_has_a_quarter_of_half_the_tokens():
    """It may be above the limit alone: with the prompt alone made smaller, each try would be refused."""
    assert RefusedPrompt(6_000, reply_reserve_tokens=2_000).reserve_to_try_tokens == 1_000
    assert RefusedPrompt(6_000, reply_reserve_tokens=100).reserve_to_try_tokens == 100
    assert RefusedPrompt(1, reply_reserve_tokens=1).reserve_to_try_tokens == 1
