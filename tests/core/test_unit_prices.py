"""Every figure is worked out by hand, from prices for per million tokens."""

import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.core.money.unit_prices import (
    COST_PRECISION,
    PriceTier,
    UnitPrices,
    cost_usd,
    worst_case_usd,
)
from conversations.core.money.usage import Usage

from .price_strategies import PLAIN, usages

PRICES = UnitPrices(input_usd=Decimal("2.50"), output_usd=Decimal("10"), cached_input_usd=Decimal("1.25"))
LONG = UnitPrices(Decimal(5), Decimal(15), Decimal(3))
TIERED = replace(PRICES, source="a list", tiers=(PriceTier(200_000, LONG),))
TIERS = st.lists(
    st.builds(PriceTier, st.integers(0, 2_000_000), PLAIN), max_size=3, unique_by=lambda tier: tier.above_input_tokens
)
ANY_PRICES = st.builds(
    lambda plain, tiers: replace(plain, tiers=tuple(sorted(tiers, key=lambda tier: tier.above_input_tokens))),
    PLAIN,
    TIERS,
)


def test_input_and_output_cost_their_prices():
    assert cost_usd(Usage(1_000, 200), PRICES) == Decimal("0.0045")


def test_cached_tokens_are_paid_for_once_and_at_their_own_price():
    assert cost_usd(Usage(1_000, 0, cached_input_tokens=400), PRICES) == Decimal("0.0020")


def test_cached_tokens_without_a_price_cost_what_the_others_cost():
    prices = UnitPrices(Decimal("2.50"), Decimal("10"))
    assert cost_usd(Usage(1_000, 0, cached_input_tokens=400), prices) == cost_usd(Usage(1_000, 0), prices)


def test_cached_tokens_can_be_free():
    prices = UnitPrices(Decimal("2.50"), Decimal("10"), cached_input_usd=Decimal(0))
    assert cost_usd(Usage(1_000, 0, cached_input_tokens=1_000), prices) == 0


def test_reasoning_tokens_are_output_tokens_already():
    assert cost_usd(Usage(0, 500, reasoning_tokens=300), PRICES) == cost_usd(Usage(0, 500), PRICES)


def test_an_unknown_price_is_an_unknown_cost_and_never_0():
    assert cost_usd(Usage(1_000, 200), None) is None


def test_no_tokens_cost_nothing_even_at_an_unknown_price():
    assert cost_usd(Usage(0, 0, estimated=True), None) == 0


def test_a_price_of_0_is_a_cost_of_0_and_not_unknown():
    assert cost_usd(Usage(1_000, 200), UnitPrices(Decimal(0), Decimal(0))) == 0


def test_tokens_written_to_the_cache_are_paid_for_once_and_at_their_own_price():
    prices = replace(PRICES, cache_write_usd=Decimal("3.125"))
    usage = Usage(1_000, 0, cached_input_tokens=400, cache_write_tokens=200)
    assert cost_usd(usage, prices) == Decimal("0.002125")


def test_above_a_threshold_every_token_costs_the_tiers_price():
    assert cost_usd(Usage(200_000, 1_000), TIERED) == Decimal("0.51")
    assert cost_usd(Usage(200_001, 1_000), TIERED) == Decimal("1.015005")


def test_the_tier_that_was_used_is_said():
    assert TIERED.for_input(200_000).source == "a list, up to 200,000 input tokens"
    assert TIERED.for_input(200_001) == replace(LONG, source="a list, above 200,000 input tokens")


@pytest.mark.parametrize(
    ("prices", "usage", "cost"),
    [
        (UnitPrices(Decimal(1), None), Usage(1_000_000, 0), 1),
        (UnitPrices(Decimal(1), None), Usage(1_000_000, 1), None),
        (UnitPrices(None, Decimal(1)), Usage(1, 1_000_000), None),
        (UnitPrices(None, Decimal(1)), Usage(0, 1_000_000), 1),
        (UnitPrices(None, Decimal(1), Decimal(1)), Usage(1_000_000, 0, 1_000_000), 1),
        (UnitPrices(None, Decimal(1), Decimal(1)), Usage(1_000_000, 0, 999_999), None),
    ],
)
def test_the_cost_is_unknown_only_where_the_price_of_a_used_token_is(prices, usage, cost):
    assert cost_usd(usage, prices) == cost


@given(usages(), ANY_PRICES)
def test_the_cost_is_exact_to_the_10th_decimal(usage, prices):
    rates = prices.for_input(usage.input_tokens)
    exact = (
        (usage.input_tokens - usage.cached_input_tokens - usage.cache_write_tokens) * Fraction(rates.input_usd)
        + usage.cached_input_tokens * Fraction(rates.cached_or_input_usd())
        + usage.cache_write_tokens * Fraction(rates.cache_write_or_input_usd())
        + usage.output_tokens * Fraction(rates.output_usd)
    ) / 1_000_000
    cost = cost_usd(usage, prices)
    assert isinstance(cost, Decimal)
    assert abs(Fraction(cost) - exact) <= Fraction(COST_PRECISION) / 2


@given(st.lists(st.tuples(st.integers(0, 10**7), st.integers(0, 10**7)), max_size=5))
def test_the_cost_of_several_is_the_sum_of_their_costs(used):
    whole = Usage(sum(tokens for tokens, _ in used), sum(tokens for _, tokens in used))
    assert cost_usd(whole, PRICES) == sum(cost_usd(Usage(*tokens), PRICES) for tokens in used)


@given(usages(), PLAIN, st.integers(0, 1_000), st.integers(0, 1_000))
def test_more_tokens_never_cost_less(usage, prices, more_input, more_output):
    more = replace(usage, input_tokens=usage.input_tokens + more_input, output_tokens=usage.output_tokens + more_output)
    assert cost_usd(more, prices) >= cost_usd(usage, prices)


@given(usages(), PLAIN)
def test_where_all_input_costs_the_same_it_is_paid_for_once_wherever_it_came_from(usage, prices):
    flat = UnitPrices(prices.input_usd, prices.output_usd, prices.input_usd, prices.input_usd)
    assert cost_usd(usage, flat) == cost_usd(Usage(usage.input_tokens, usage.output_tokens), flat)


@given(usages(), ANY_PRICES, st.integers(0, 1_000_000))
def test_no_request_costs_more_than_the_highest_prices_it_can_reach(usage, prices, further):
    highest = prices.highest(usage.input_tokens + further)
    set_aside = cost_usd(Usage(usage.input_tokens, usage.output_tokens), highest)
    assert cost_usd(usage, prices) <= set_aside
    assert highest.tiers == ()


def test_a_tier_that_cannot_be_reached_raises_no_price():
    assert TIERED.highest(200_000).input_usd == Decimal("2.50")
    assert TIERED.highest(200_001).input_usd == Decimal(5)


def test_what_may_have_an_unknown_price_has_no_highest_one():
    assert replace(TIERED, output_usd=None).highest(300_000).output_usd is None


@given(ANY_PRICES, st.text(max_size=20))
def test_prices_come_back_from_json_as_they_were(prices, source):
    prices = replace(prices, source=source)
    assert UnitPrices.from_json(json.loads(json.dumps(prices.to_json()))) == prices


def test_the_worst_case_is_all_of_the_input_at_its_most_expensive_and_the_largest_reply():
    tier = PriceTier(100, UnitPrices(Decimal(20), Decimal(30)))
    prices = UnitPrices(
        Decimal(10), Decimal(15), cached_input_usd=Decimal(1), cache_write_usd=Decimal(12), tiers=(tier,)
    )
    assert worst_case_usd(prices, input_tokens=100, output_tokens=10) == Decimal("0.001350")
    assert worst_case_usd(prices, input_tokens=101, output_tokens=10) == Decimal("0.002320")


def test_the_worst_case_is_unknown_without_a_price():
    assert worst_case_usd(None, input_tokens=1, output_tokens=1) is None
    assert worst_case_usd(UnitPrices(Decimal(1), None), input_tokens=1, output_tokens=1) is None


def test_a_request_without_output_needs_no_price_of_it():
    assert worst_case_usd(UnitPrices(Decimal(1), None), input_tokens=1_000_000, output_tokens=0) == 1
