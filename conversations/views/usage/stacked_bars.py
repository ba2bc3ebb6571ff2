"""Stacked bars of the usage page, drawn as SVG: one for each day, measured in hundredths of the chart.

They are written as text with a point, as SVG reads numbers in every language.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

WHOLE = Decimal(100)
FILLED = Decimal("0.78")  # of a bar's place; the rest is the gap
STEPS = (1, 2, 5, 10)


@dataclass(frozen=True, slots=True)
class Column:
    """The values that one bar stands for: *values* from the bottom upwards, kind → value. *label* tells it in words."""

    label: str
    values: Mapping[str, Decimal | int]
    has_unknown: bool = False


@dataclass(frozen=True, slots=True)
class BarPart:
    kind: str
    y: str
    height: str


@dataclass(frozen=True, slots=True)
class Bar:
    """One column as it is drawn; *place_x* and *place_width* are those of its gap too, to be pointed at."""

    label: str
    x: str
    width: str
    place_x: str
    place_width: str
    parts: list[BarPart]
    has_unknown: bool


@dataclass(frozen=True, slots=True)
class StackedBarChart:
    """*top* is what the whole height stands for."""

    bars: list[Bar]
    top: Decimal


def stacked_bar_chart(columns: Sequence[Column]) -> StackedBarChart:
    """Return the chart of *columns*, from left to right, under a round number."""
    top = round_number_above(max((_sum(column) for column in columns), default=Decimal(0)))
    place = WHOLE / max(len(columns), 1)
    return StackedBarChart([_bar(column, number * place, place, top) for number, column in enumerate(columns)], top)


def round_number_above(value: Decimal) -> Decimal:
    """Return the least of 1, 2, 5, 10, 20, 50 … or of their tenths, hundredths … that is not below *value*."""
    if value <= 0:
        return Decimal(1)
    power = Decimal(1).scaleb(value.adjusted())
    return next(step * power for step in STEPS if step * power >= value)


def _sum(column: Column) -> Decimal:
    return sum((Decimal(value) for value in column.values.values()), Decimal(0))


def _bar(column: Column, place_x: Decimal, place: Decimal, top: Decimal) -> Bar:
    return Bar(
        label=column.label,
        x=_written(place_x + place * (1 - FILLED) / 2),
        width=_written(place * FILLED),
        place_x=_written(place_x),
        place_width=_written(place),
        parts=_parts(column, top),
        has_unknown=column.has_unknown,
    )


def _parts(column: Column, top: Decimal) -> list[BarPart]:
    parts, bottom = [], WHOLE
    for kind, value in column.values.items():
        height = WHOLE * value / top
        bottom -= height
        if value:
            parts.append(BarPart(kind, _written(bottom), _written(height)))
    return parts


def _written(hundredths: Decimal) -> str:
    return f"{hundredths.quantize(Decimal('0.001'), ROUND_CEILING)}%"
