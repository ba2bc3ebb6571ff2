"""What the first page is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest

from conversations.models import LedgerSum
from conversations.selectors.figures.figures import Figures, count_running, read_figures, read_total
from conversations.selectors.figures.period import Period
from conversations.views.usage.period_form import read_period

from .address import Address, read_filters
from .before import period_before
from .cards import Card, cards
from .charts import Chart, charts
from .chips import Chip, chips
from .memory import Memory
from .tables import ShownTable, tables


@dataclass(frozen=True, slots=True)
class Overview:
    """All of the first page. *is_new* says that no request was ever made, so that there is nothing to choose from."""

    address: Address
    figures: Figures
    before: Period
    cards: list[Card]
    memory: Memory
    charts: list[Chart]
    tables: list[ShownTable]
    chips: list[Chip]
    failures: list[tuple[Any, str]]
    is_new: bool

    @property
    def days(self) -> list[Any]:
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
        context["overview"] = read_overview(address_of(request))
    return context


def may_see_figures(request: HttpRequest) -> bool:
    return request.user.has_perm("conversations.view_completion")


def address_of(request: HttpRequest) -> Address:
    return Address(read_period(request), read_filters(request.GET))


def read_overview(address: Address) -> Overview:
    """Return the page, with a number of queries that depends on the number of filters alone."""
    before = period_before(address.chosen)
    shown = read_figures(address.chosen.period, address.filters)
    total, total_before = shown.total, read_total(before, address.filters)
    running = count_running(address.filters)
    return Overview(
        address=address,
        figures=shown,
        before=before,
        cards=cards(total, total_before, running=running),
        memory=Memory(total, total_before),
        charts=charts(shown.by_day),
        tables=tables(shown, address),
        chips=list(chips(address)),
        failures=[(each, address.completions(error_code=each.error_code)) for each in shown.failures],
        is_new=not (total.completions or running or LedgerSum.objects.exists()),
    )
