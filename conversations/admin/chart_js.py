"""Charts of the admin as JSON for Chart.js."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import get_language

GREY = "#84949f"  # reads on both themes; a canvas does not know when the theme changes
MONEY = {"style": "currency", "currency": "USD", "minimumFractionDigits": 2, "maximumFractionDigits": 10}
WHOLE = {"minimumFractionDigits": 0, "maximumFractionDigits": 0}
_LEGEND = {"color": GREY, "boxWidth": 8, "boxHeight": 8, "usePointStyle": True, "pointStyle": "rectRounded"}
_TICKS = {"color": GREY, "maxRotation": 0}
Values = tuple[str, Sequence[Any]]
Line = tuple[str, str, Sequence[Any]]


def bar_chart_json(
    labels: Sequence[str],
    series: Mapping[str, Values],
    *,
    number_format: Mapping[str, Any],
    most_labels: int = 6,
    line: Line | None = None,
) -> dict[str, str]:
    """Return the data and the options of stacked bars; *series* is label → (colour, values).

    Under the bars stand at most *most_labels*, fewer where they would not fit. A *line*, which is (label, colour,
    values), lies above them and is measured on the right.
    """
    datasets = [
        {"label": label, "data": values, "backgroundColor": _colour(colour)}
        for label, (colour, values) in series.items()
    ]
    options = _options(len(series) + bool(line), number_format=number_format, most_labels=most_labels, stacked=True)
    if line:
        label, colour, values = line
        datasets.insert(0, _line(label, colour, values) | {"type": "line", "yAxisID": "right"})
        options["scales"]["right"] = _numbers(number_format) | {"position": "right", "grid": {"display": False}}
    return _as_json(labels, datasets, options)


def line_chart_json(
    labels: Sequence[str], series: Mapping[str, Values], *, number_format: Mapping[str, Any], most_labels: int = 6
) -> dict[str, str]:
    """Return the data and the options of lines that may cross; *series* is label → (colour, values)."""
    datasets = [_line(label, colour, values) for label, (colour, values) in series.items()]
    options = _options(len(series), number_format=number_format, most_labels=most_labels, stacked=False)
    return _as_json(labels, datasets, options)


def _line(label: str, colour: str, values: Sequence[Any]) -> dict[str, Any]:
    """Straight from day to day: a curve would swing beyond its figures, and show parts of a person."""
    look = {"borderColor": _colour(colour), "backgroundColor": _colour(colour), "borderWidth": 2, "pointRadius": 0}
    return {"label": label, "data": values, "pointHoverRadius": 4, **look}


def _colour(name: str) -> str:
    return f"var(--color-chart-{name})"


def _numbers(number_format: Mapping[str, Any]) -> dict[str, Any]:
    """Return an axis; between two whole numbers it has no others."""
    ticks = {**_TICKS, "maxTicksLimit": 6, "format": number_format}
    return {"beginAtZero": True, "grid": {}, "ticks": ticks | ({"precision": 0} if number_format is WHOLE else {})}


def _options(count: int, *, number_format: Mapping[str, Any], most_labels: int, stacked: bool) -> dict[str, Any]:
    days = {"grid": {"display": False}, "ticks": {**_TICKS, "maxTicksLimit": most_labels}}
    return {
        "animation": False,
        "maintainAspectRatio": False,
        "locale": get_language() or "en",
        "borderRadius": 3,
        "categoryPercentage": 0.8,
        "barPercentage": 0.9,
        "interaction": {"mode": "index", "intersect": False},
        "plugins": {"legend": {"display": count > 1, "align": "end", "labels": _LEGEND}},
        "scales": {"x": days | {"stacked": stacked}, "y": _numbers(number_format) | {"stacked": stacked}},
    }


def _as_json(labels: Sequence[str], datasets: list[dict[str, Any]], options: dict[str, Any]) -> dict[str, str]:
    return {"data": json.dumps({"labels": labels, "datasets": datasets}), "options": json.dumps(options)}
