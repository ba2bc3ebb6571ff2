"""Every figure is worked out by hand: a window of 1,000 tokens, of which 600 are history."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.core.money.context_cost import cost_without_history_usd, usage_without_history
from conversations.core.money.unit_prices import PriceTier, UnitPrices, cost_usd
from conversations.core.money.usage import Usage
from conversations.core.window.window_record import GroundingRecord, WindowEntry, WindowRecord

from .price_strategies import PLAIN, usages

PRICES = UnitPrices(Decimal(10), Decimal(20), cached_input_usd=Decimal(1))
MILLION = 1_000_000


def record_of(*, system=97, pins=100, older=500, newest=150, steps=100, grounding=0, tools=50, priming=3):
    kinds = {"system": system, "pin": pins, "older": older, "newest": newest, "tool_step": steps}
    return WindowRecord(
        language_model="letters",
        encoding="letters",
        context_window_tokens=10_000,
        reply_reserve_tokens=1_000,
        budget_tokens=9_000,
        prompt_tokens=priming + tools + sum(kinds.values()),
        priming_tokens=priming,
        tool_schema_tokens=tools,
        calibration="1",
        policy={},
        entries=tuple(WindowEntry(kind, "user", tokens) for kind, tokens in kinds.items()),
        first_position=0,
        messages_before_window=0,
        older_limit_tokens=0,
        grounding=GroundingRecord(tokens=grounding),
    )


RECORD = record_of()
TOKENS = st.integers(0, 100_000)
RECORDS = st.builds(
    record_of, system=TOKENS, pins=TOKENS, older=TOKENS, newest=TOKENS, steps=TOKENS, tools=TOKENS, priming=TOKENS
)


def test_pins_and_older_messages_are_left_out():
    assert usage_without_history(RECORD, Usage(1_000, 70)) == Usage(400, 70)


def test_what_was_looked_up_stays():
    assert usage_without_history(record_of(grounding=120), Usage(1_000, 70)) == Usage(400, 70)


def test_our_count_is_scaled_by_what_the_provider_counted():
    assert usage_without_history(RECORD, Usage(1_500, 70)) == Usage(600, 70)


def test_a_first_question_costs_the_same_without_history():
    usage = Usage(400, 70, cached_input_tokens=150, cache_write_tokens=200)
    assert usage_without_history(record_of(pins=0, older=0), usage) == usage


@pytest.mark.parametrize(
    ("cached", "still_cached"),
    [(0, 0), (100, 100), (150, 150), (700, 150), (750, 150), (900, 300), (1_000, 400)],
    ids=["nothing", "less", "the beginning", "history", "all of it", "the question too", "everything"],
)
def test_only_what_is_not_history_is_still_read_from_the_cache(cached, still_cached):
    without = usage_without_history(RECORD, Usage(1_000, 0, cached_input_tokens=cached))
    assert (without.input_tokens, without.cached_input_tokens) == (400, still_cached)


def test_history_that_is_written_to_the_cache_is_not_written():
    without = usage_without_history(RECORD, Usage(1_000, 0, cached_input_tokens=100, cache_write_tokens=800))
    assert (without.cached_input_tokens, without.cache_write_tokens) == (100, 200)


def test_it_is_priced_as_the_smaller_request_that_it_is():
    tiers = (PriceTier(500, UnitPrices(Decimal(100), Decimal(200))),)
    cost = cost_without_history_usd(RECORD, Usage(1_000, 100), replace(PRICES, tiers=tiers))
    assert cost == Decimal(400 * 10 + 100 * 20) / MILLION


def test_cached_tokens_have_their_own_price():
    cost = cost_without_history_usd(RECORD, Usage(1_000, 100, cached_input_tokens=700), PRICES)
    assert cost == Decimal(250 * 10 + 150 * 1 + 100 * 20) / MILLION


def test_what_was_not_billed_costs_nothing_without_history_either():
    assert cost_without_history_usd(RECORD, Usage(0, 0, estimated=True), PRICES) == 0


def test_without_a_record_there_was_no_question():
    assert cost_without_history_usd(None, Usage(1_000, 100), PRICES) is None


@pytest.mark.parametrize("prices", [None, UnitPrices(None, Decimal(1)), UnitPrices(Decimal(1), None)])
def test_without_a_price_no_one_knows(prices):
    assert cost_without_history_usd(RECORD, Usage(1_000, 100), prices) is None


def test_it_is_unknown_where_the_cost_itself_is():
    """Else a sum of both would compare what can't be compared."""
    tiers = (PriceTier(500, UnitPrices(None, None)),)
    assert cost_without_history_usd(RECORD, Usage(1_000, 100), replace(PRICES, tiers=tiers)) is None


@given(RECORDS, usages(), PLAIN)
def test_nothing_costs_more_without_history(record, usage, prices):
    without = cost_without_history_usd(record, usage, prices)
    assert without <= cost_usd(usage, prices)


@given(RECORDS, usages())
def test_no_kind_of_tokens_grows_and_the_parts_stay_parts(record, usage):
    without = usage_without_history(record, usage)
    assert 0 <= without.input_tokens <= usage.input_tokens
    assert 0 <= without.cached_input_tokens <= usage.cached_input_tokens
    assert 0 <= without.cache_write_tokens <= usage.cache_write_tokens
    assert without.cached_input_tokens + without.cache_write_tokens <= without.input_tokens
    assert without.input_tokens - without.cached_input_tokens <= usage.input_tokens - usage.cached_input_tokens
