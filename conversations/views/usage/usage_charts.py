"""The charts of a user's usage: money and tokens, day by day."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils import formats
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from conversations.selectors.figures.figures import DayTotals, Figures
from conversations.selectors.figures.totals import Totals
from conversations.templatetags.figures import count
from conversations.wording.money_amounts import exact_usd

from .stacked_bars import Bar, Column, stacked_bar_chart

TOKEN_KINDS: dict[str, Promise] = {
    "cached": gettext_lazy("Input from the cache"),
    "input": gettext_lazy("Other input"),
    "output": gettext_lazy("Output"),
}


@dataclass(frozen=True, slots=True)
class DayChart:
    """*top* is what the whole height stands for, *summary* the chart in one sentence for people who can't see it."""

    name: Promise
    bars: list[Bar]
    top: str
    days: list[dt.date]
    summary: str
    legend: list[tuple[str, Promise]]


def day_charts(figures: Figures) -> list[DayChart]:
    """Return the charts that have something to show: one of the money, unless all of it was free, one of the tokens."""
    total = figures.total
    charts = [_money(figures)] if total.cost_usd or total.unknown_costs else []
    return [*charts, _tokens(figures)] if total.tokens else charts


def _money(figures: Figures) -> DayChart:
    columns = [
        Column(_day_label(each.day, _cost_label(each.totals)), {"cost": each.totals.cost_usd}, _is_unknown(each))
        for each in figures.by_day
    ]
    chart = stacked_bar_chart(columns)
    most = max(figures.by_day, key=lambda each: each.totals.cost_usd)
    return DayChart(
        name=gettext_lazy("Cost"),
        bars=chart.bars,
        top=exact_usd(chart.top),
        days=_days_below(figures.by_day),
        summary=gettext("Cost by day: %(total)s in total. Highest: %(most)s.")
        % {"total": _cost_label(figures.total), "most": _day_label(most.day, _cost_label(most.totals))},
        legend=_legend_of_unknown(figures.total),
    )


def _tokens(figures: Figures) -> DayChart:
    chart = stacked_bar_chart([_column_of_tokens(each) for each in figures.by_day])
    most = max(figures.by_day, key=lambda each: each.totals.tokens)
    return DayChart(
        name=gettext_lazy("Tokens"),
        bars=chart.bars,
        top=count(int(chart.top)),
        days=_days_below(figures.by_day),
        summary=gettext("Tokens by day: %(total)s in total. Highest: %(most)s.")
        % {"total": count(figures.total.tokens), "most": _day_label(most.day, count(most.totals.tokens))},
        legend=list(TOKEN_KINDS.items()),
    )


def _column_of_tokens(each: DayTotals) -> Column:
    totals = each.totals
    values = {
        "cached": totals.cached_input_tokens,
        "input": totals.input_tokens - totals.cached_input_tokens,
        "output": totals.output_tokens,
    }
    return Column(_day_label(each.day, _tokens_label(totals)), values)


def _tokens_label(totals: Totals) -> str:
    if totals.reported_cached_tokens is None:
        told = gettext("%(input)s in (cached: not reported), %(output)s out")
    else:
        told = gettext("%(input)s in (%(cached)s cached), %(output)s out")
    return told % {
        "input": count(totals.input_tokens),
        "cached": count(totals.cached_input_tokens),
        "output": count(totals.output_tokens),
    }


def _day_label(day: dt.date, figure: str) -> str:
    return gettext("%(day)s: %(figure)s") % {"day": formats.date_format(day), "figure": figure}


def _cost_label(totals: Totals) -> str:
    if not totals.unknown_costs:
        return exact_usd(totals.cost_usd)
    words = {"cost": exact_usd(totals.cost_usd), "unknown": count(totals.unknown_costs)}
    return (gettext("%(cost)s + %(unknown)s unknown") if totals.cost_usd else gettext("%(unknown)s unknown")) % words


def _is_unknown(each: DayTotals) -> bool:
    return bool(each.totals.unknown_costs)


def _legend_of_unknown(total: Totals) -> list[tuple[str, Promise]]:
    """A chart of one kind of bar needs no legend, unless there are days of which not every cost is known."""
    if not total.unknown_costs:
        return []
    return [("cost", gettext_lazy("Known")), ("unknown", gettext_lazy("Partly unknown"))]


def _days_below(by_day: Sequence[DayTotals]) -> list[dt.date]:
    """Return the days that are written below: the first, the middle, the last."""
    days = [each.day for each in by_day]
    return list(dict.fromkeys((days[0], days[len(days) // 2], days[-1]))) if len(days) > 2 else days
