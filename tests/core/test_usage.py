"""Every figure is worked out by hand, from prices for a million tokens."""

from decimal import Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from conversations.core.usage import COST_PRECISION, UnitPrices, Usage, cost_usd

PRICES = UnitPrices(input_usd=Decimal("2.50"), output_usd=Decimal("10"), cached_input_usd=Decimal("1.25"))
TOKENS = st.integers(0, 10_000_000)
PRICE = st.decimals(0, 1_000, places=4)


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


@given(TOKENS, TOKENS, st.integers(0, 100), st.tuples(PRICE, PRICE, PRICE))
def test_the_cost_is_exact_to_the_10th_decimal(input_tokens, output_tokens, cached_percent, prices):
    cached_tokens = input_tokens * cached_percent // 100
    of_input, of_output, of_cached = prices
    exact = (input_tokens - cached_tokens) * Fraction(of_input) + cached_tokens * Fraction(of_cached)
    exact = (exact + output_tokens * Fraction(of_output)) / 1_000_000
    cost = cost_usd(
        Usage(input_tokens, output_tokens, cached_tokens), UnitPrices(of_input, of_output, cached_input_usd=of_cached)
    )
    assert abs(Fraction(cost) - exact) <= Fraction(COST_PRECISION) / 2


@given(st.lists(st.tuples(TOKENS, TOKENS), max_size=5))
def test_the_cost_of_several_is_the_sum_of_their_costs(used):
    whole = Usage(sum(tokens for tokens, _ in used), sum(tokens for _, tokens in used))
    assert cost_usd(whole, PRICES) == sum(cost_usd(Usage(*tokens), PRICES) for tokens in used)
