"""The figures at the top."""

from __future__ import annotations

from decimal import Decimal

import pytest

from conversations.admin.dashboard.cards import CostOfContext, cards, growth
from conversations.selectors.figures.totals import Totals


def card(label: str, total: Totals, previous: Totals):
    return next(card for card in cards(total, previous, running=0) if card.label == label)


@pytest.mark.parametrize(
    ("now", "previous", "said"), [(3, 2, "+50.0 %"), (1, 2, "−50.0 %"), (2, 2, "unchanged"), (2, 0, ""), (0, 0, "")]
)
def test_growth_is_said_where_there_was_something(now, previous, said):
    assert growth(now, previous) == said


def test_shares_are_compared_in_points():
    now, previous = (
        Totals(input_tokens=300, cached_input_tokens=cached, cache_reported_input_tokens=100) for cached in (60, 50)
    )
    shown = card("Input from the cache", now, previous)
    assert (shown.value, shown.changed, shown.previous) == ("60.0 %", "+10.0 points", "50.0 %")
    assert shown.note == "60 of 100 input tokens; not reported of 200 others"


def test_that_nothing_is_cached_and_that_it_is_not_reported_are_two_things():
    nothing, unknown = (Totals(input_tokens=100, cache_reported_input_tokens=tokens) for tokens in (100, 0))
    shown = [card("Input from the cache", total, Totals()) for total in (nothing, unknown)]
    assert [(each.value, each.note) for each in shown] == [
        ("0.0 %", "0 of 100 input tokens"),
        ("–", "not reported by the provider"),
    ]


def test_a_share_of_nothing_is_a_dash():
    assert card("Estimation error", Totals(), Totals()).value == "–"


def test_the_larger_of_two_costs_fills_the_bar():
    expensive = Totals(cost_with_history_usd=Decimal(8), cost_without_history_usd=Decimal(2))
    cost = CostOfContext(expensive, Totals())
    assert (cost.sent_width, cost.alone_width) == (1000, 250)


def test_bars_of_nothing_are_empty():
    cost = CostOfContext(Totals(), Totals())
    assert (cost.sent_width, cost.alone_width) == (0, 0)
