"""The charts of the first page: a day is a bar or a point. The table of days has the same numbers."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext

from conversations.admin.chart_js import MONEY, WHOLE, bar_chart_json, line_chart_json
from conversations.selectors.figures.figures import DayTotals


@dataclass(frozen=True, slots=True)
class Chart:
    """*kind* is the component that draws it, *drawn* the component's data and options."""

    title: str
    kind: str
    drawn: dict[str, str]


def charts(days: Iterable[DayTotals]) -> list[Chart]:
    """Return the charts by day; none of a single day."""
    rows = list(days)
    if len(rows) < 2:
        return []
    return [
        Chart(gettext("Cost by day, US dollars"), "bar", cost_chart(rows)),
        Chart(gettext("Tokens by day"), "bar", token_chart(rows)),
        Chart(gettext("Replies and active users by day"), "bar", reply_chart(rows)),
        Chart(gettext("Cost of context by day, US dollars"), "line", context_cost_chart(rows)),
    ]


def cost_chart(days: list[DayTotals]) -> dict[str, str]:
    costs = [float(day.totals.cost_usd) for day in days]
    return bar_chart_json(_labels(days), {gettext("Cost"): ("cost", costs)}, number_format=MONEY)


def token_chart(days: list[DayTotals]) -> dict[str, str]:
    totals = [day.totals for day in days]
    series = {
        gettext("Input"): ("input", [each.input_tokens - each.cached_input_tokens for each in totals]),
        gettext("Cached input"): ("cached", [each.cached_input_tokens for each in totals]),
        gettext("Output"): ("output", [each.output_tokens for each in totals]),
    }
    return bar_chart_json(_labels(days), series, number_format=WHOLE)


def reply_chart(days: list[DayTotals]) -> dict[str, str]:
    """Bars of replies, and the active users as a line with a scale of its own: there are far fewer."""
    bars = {gettext("Replies"): ("input", [day.totals.replies for day in days])}
    line = (gettext("Active users"), "cost", [day.totals.users for day in days])
    return bar_chart_json(_labels(days), bars, number_format=WHOLE, line=line)


def context_cost_chart(days: list[DayTotals]) -> dict[str, str]:
    series: dict[str, tuple[str, list[Any]]] = {
        gettext("As sent"): ("cost", [float(day.totals.cost_with_history_usd) for day in days]),
        gettext("Without earlier messages"): ("input", [float(day.totals.cost_without_history_usd) for day in days]),
    }
    return line_chart_json(_labels(days), series, number_format=MONEY)


def _labels(days: list[DayTotals]) -> list[str]:
    return [short_day(day.day) for day in days]


def short_day(day: dt.date) -> str:
    return date_format(day, "MONTH_DAY_FORMAT")
