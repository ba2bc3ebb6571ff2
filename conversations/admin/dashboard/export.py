"""CSV export of the first page's tables and of the series of its charts, with all rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponseBase
from django.utils.translation import gettext_lazy

from conversations.selectors.figures import figures
from conversations.views.usage.csv_response import csv_response

from .address import Address
from .page import may_see_figures, read_address

Cells = tuple[Any, ...]
# By what → the columns before the sums, and the cells of a row in them.
KEYS: dict[str, tuple[tuple[Any, ...], Callable[[Any], Cells]]] = {
    "day": ((gettext_lazy("day"),), lambda row: (row.day,)),
    "user": ((gettext_lazy("user id"), gettext_lazy("user")), lambda row: (row.user_id, row.email)),
    "language_model": ((gettext_lazy("language model"),), lambda row: (row.language_model,)),
    "scenario": ((gettext_lazy("scenario id"), gettext_lazy("scenario")), lambda row: (row.scenario_id, row.name)),
    "purpose": ((gettext_lazy("purpose"),), lambda row: (row.purpose,)),
    "conversation": (
        (gettext_lazy("conversation"), gettext_lazy("owner")),
        lambda row: (row.public_id, row.owner_email),
    ),
}
SUMS: dict[str, Any] = {
    "completions": gettext_lazy("requests"),
    "replies": gettext_lazy("replies"),
    "failures": gettext_lazy("failures"),
    "stopped": gettext_lazy("stopped"),
    "input_tokens": gettext_lazy("input tokens"),
    "cached_input_tokens": gettext_lazy("cached input tokens"),
    "cache_reported_input_tokens": gettext_lazy("input tokens of requests that report what was cached"),
    "cache_write_tokens": gettext_lazy("cache write tokens"),
    "output_tokens": gettext_lazy("output tokens"),
    "reasoning_tokens": gettext_lazy("reasoning tokens"),
    "cost_usd": gettext_lazy("cost (USD)"),
    "unknown_costs": gettext_lazy("requests of unknown cost"),
    "cost_with_history_usd": gettext_lazy("cost as sent (USD)"),
    "cost_without_history_usd": gettext_lazy("cost without earlier messages (USD)"),
    "reported_input_tokens": gettext_lazy("input tokens as reported"),
    "estimated_input_tokens": gettext_lazy("input tokens as estimated"),
    "estimate_error_tokens": gettext_lazy("estimation error (tokens)"),
    "users": gettext_lazy("users"),
}
FAILURE_HEADER = (gettext_lazy("class"), gettext_lazy("requests"), gettext_lazy("last one"))


def figures_csv(request: HttpRequest, by: str) -> HttpResponseBase:
    """Answer with the rows by *by*, of the days and filters in the query."""
    if not may_see_figures(request):
        raise PermissionDenied
    address = read_address(request)
    period = address.chosen.period
    name = f"{by.replace('_', '-')}-{period.first}-{period.last}.csv"
    if by == "failure":
        return csv_response(name, FAILURE_HEADER, _failures(address))
    if by not in KEYS:
        raise Http404
    return csv_response(name, [*KEYS[by][0], *SUMS.values()], _rows(address, by))


def _failures(address: Address) -> Iterator[Cells]:
    failures = figures.read_failures(address.chosen.period, address.filters)
    return ((each.error_code, each.count, each.last_at) for each in failures)


def _rows(address: Address, by: Any) -> Iterator[Cells]:
    cells = KEYS[by][1]
    for row in figures.all_rows(address.chosen.period, address.filters, by=by):
        yield (*cells(row), *(getattr(row.totals, name) for name in SUMS))
