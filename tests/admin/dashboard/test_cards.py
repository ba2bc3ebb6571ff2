"""The figures at the top."""

from __future__ import annotations

from decimal import Decimal

import pytest

from conversations.admin.dashboard.cards import cards, growth
from conversations.admin.dashboard.memory import Memory
from conversations.selectors.figures.totals import Totals


def card(label: str, total: Totals, before: Totals):
    return next(card for card in cards(total, before, running=0) if card.label == label)


@pytest.mark.parametrize(
    ("now", "before", "said"), [(3, 2, "+50.0 %"), (1, 2, "−50.0 %"), (2, 2, "as before"), (2, 0, ""), (0, 0, "")]
)
def test_growth_is_said_where_there_was_something(now, before, said):
    assert growth(now, before) == said


def test_shares_are_compared_in_points():
    now, before = (Totals(input_tokens=100, cached_input_tokens=cached) for cached in (60, 50))
    shown = card("Cached input", now, before)
    assert (shown.value, shown.changed, shown.before) == ("60.0 %", "+10.0 points", "50.0 %")


def test_a_share_of_nothing_is_a_dash():
    assert card("Error of our estimates", Totals(), Totals()).value == "–"


def test_the_dearer_of_two_costs_fills_the_bar():
    dear = Totals(remembering_cost_usd=Decimal(8), cost_without_history_usd=Decimal(2))
    memory = Memory(dear, Totals())
    assert (memory.sent_width, memory.alone_width) == (1000, 250)


def test_bars_of_nothing_are_empty():
    memory = Memory(Totals(), Totals())
    assert (memory.sent_width, memory.alone_width) == (0, 0)
