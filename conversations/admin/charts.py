"""Charts as Chart.js takes them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

GREY = "#84949f"  # reads on both themes; a canvas does not know when the theme changes
_LEGEND = {"color": GREY, "boxWidth": 8, "boxHeight": 8, "usePointStyle": True, "pointStyle": "rectRounded"}


def bar_chart(
    labels: Sequence[str],
    series: Mapping[str, tuple[str, Sequence[Any]]],
    *,
    number_format: Mapping[str, Any],
    most_labels: int = 6,
) -> dict[str, str]:
    """Return the data and the options of stacked bars; *series* is label → (colour, values).

    Under the bars stand at most *most_labels*, fewer where they would not fit.
    """
    datasets = [
        {"label": label, "data": values, "backgroundColor": f"var(--color-chart-{colour})"}
        for label, (colour, values) in series.items()
    ]
    ticks = {"color": GREY, "maxRotation": 0}
    names = {**ticks, "maxTicksLimit": most_labels}
    numbers = {**ticks, "maxTicksLimit": 6, "format": number_format}
    options = {
        "animation": False,
        "maintainAspectRatio": False,
        "locale": "en-US",
        "borderRadius": 3,
        "categoryPercentage": 0.8,
        "barPercentage": 0.9,
        "interaction": {"mode": "index", "intersect": False},
        "plugins": {"legend": {"display": len(series) > 1, "align": "end", "labels": _LEGEND}},
        "scales": {
            "x": {"stacked": True, "grid": {"display": False}, "ticks": names},
            "y": {"stacked": True, "beginAtZero": True, "grid": {}, "ticks": numbers},
        },
    }
    return {"data": json.dumps({"labels": labels, "datasets": datasets}), "options": json.dumps(options)}
