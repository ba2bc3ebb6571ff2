"""The context of the first page: the figures of the chosen days, beside those of the days before."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest

from conversations.models import LedgerSum
from conversations.selectors.figures.figures import (
    DayTotals,
    Failures,
    Figures,
    count_running,
    read_figures,
    read_total,
)
from conversations.selectors.figures.period import Period
from conversations.views.usage.period_form import ChosenPeriod, read_period

from .address import Address, Chip, chips, read_filters
from .cards import Card, CostOfContext, cards
from .charts import Chart, charts
from .tables import ShownTable, tables

DAY = dt.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Overview:
    """The context of the first page. *is_new* says that no request was ever made, so there is nothing to choose from.

    *previous* are the days that *figures* are compared with. Each of *failures* has the address of its completions.
    """

    address: Address
    figures: Figures
    previous: Period
    cards: list[Card]
    cost_of_context: CostOfContext
    charts: list[Chart]
    tables: list[ShownTable]
    chips: list[Chip]
    failures: list[tuple[Failures, str]]
    is_new: bool

    @property
    def days(self) -> list[DayTotals]:
        return list(reversed(self.figures.by_day))

    @property
    def days_file(self) -> str:
        return self.address.file("day")

    @property
    def failures_file(self) -> str:
        return self.address.file("failure")


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add the figures to the first page's *context*, for those who may see the ledger."""
    if may_see_figures(request):
        context["overview"] = read_overview(read_address(request))
    return context


def may_see_figures(request: HttpRequest) -> bool:
    return request.user.has_perm("conversations.view_completion")


def read_address(request: HttpRequest) -> Address:
    return Address(read_period(request), read_filters(request.GET))


def read_overview(address: Address) -> Overview:
    """Return the page, with a number of queries that depends on the number of filters alone."""
    previous = previous_period(address.chosen)
    figures = read_figures(address.chosen.period, address.filters)
    previous_total = read_total(previous, address.filters)
    running = count_running(address.filters)
    return Overview(
        address=address,
        figures=figures,
        previous=previous,
        cards=cards(figures.total, previous_total, running=running),
        cost_of_context=CostOfContext(figures.total, previous_total),
        charts=charts(figures.by_day),
        tables=tables(figures, address),
        chips=list(chips(address)),
        failures=[(each, address.completions(error_code=each.error_code)) for each in figures.failures],
        is_new=not (figures.total.completions or running or LedgerSum.objects.exists()),
    )


def previous_period(chosen: ChosenPeriod) -> Period:
    """Return as many days just before; of a month the month before, as far as this one has come."""
    period = chosen.period
    if chosen.name not in ("this-month", "last-month"):
        length = period.last - period.first + DAY
        return Period(period.first - length, period.last - length, period.zone)
    end = period.first - DAY
    is_over = chosen.name == "last-month"
    last = end if is_over else end.replace(day=min(period.last.day, end.day))
    return Period(end.replace(day=1), last, period.zone)
