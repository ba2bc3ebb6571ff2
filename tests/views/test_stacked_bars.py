"""The bars of a chart: as high as what they stand for, side by side, under a round number."""

from __future__ import annotations

from decimal import Decimal

import pytest

from conversations.views.usage.stacked_bars import Column, round_number_above, stacked_bar_chart


def number(written):
    return Decimal(written.rstrip("%"))


@pytest.mark.parametrize(
    ("value", "above"),
    [(0, 1), (1, 1), ("1.01", 2), ("0.03", "0.05"), ("0.0000000001", "0.0000000001"), (51, 100), (999_999, 1_000_000)],
)
def test_the_top_is_the_next_round_number(value, above):
    assert round_number_above(Decimal(value)) == Decimal(above)


def test_the_values_of_a_column_stand_on_each_other_from_the_ground():
    [bar] = stacked_bar_chart([Column("", {"cached": 2, "input": 5, "output": 3})]).bars
    assert [(each.kind, number(each.y), number(each.height)) for each in bar.parts] == [
        ("cached", 80, 20),
        ("input", 30, 50),
        ("output", 0, 30),
    ]


def test_nothing_is_drawn_for_nothing():
    chart = stacked_bar_chart([Column("none", {"cost": 0}), Column("some", {"cost": 1})])
    assert [len(bar.parts) for bar in chart.bars] == [0, 1]


@pytest.mark.parametrize("count", [1, 7, 366])
def test_bars_lie_side_by_side_within_the_chart(count):
    bars = stacked_bar_chart([Column("", {"cost": 1})] * count).bars
    ends = [number(bar.x) + number(bar.width) for bar in bars]
    assert all(end <= number(after.x) for end, after in zip(ends, bars[1:], strict=False))
    assert ends[-1] <= 100


def test_a_chart_of_nothing_has_no_bars():
    assert stacked_bar_chart([]).bars == []
