"""The admin's first page: what the site used, what it cost, and what failed."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from conversations.admin.charts import bar_chart
from conversations.selectors import ledger
from conversations.selectors.ledger import DayTotals, Totals

DAYS = 30
ROWS = 10


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add the ledger's figures to the first page's *context*, for those who may see the ledger."""
    if request.user.has_perm("conversations.view_completion"):
        context["figures"] = read_figures(timezone.now().astimezone(dt.UTC).date())
    return context


def read_figures(today: dt.date) -> dict[str, Any]:
    """Return all figures of the first page, in six queries."""
    first_day = today - dt.timedelta(days=DAYS - 1)
    since = dt.datetime.combine(first_day, dt.time(), dt.UTC)
    days = ledger.totals_by_day(first_day, today)
    month = ledger.totals_since(since)
    return {
        "days": DAYS,
        "today": ledger.totals_since(dt.datetime.combine(today, dt.time(), dt.UTC)),
        "month": month,
        "by_day": days[::-1],
        "cost_chart": cost_chart(days),
        "token_chart": token_chart(days),
        "by_user": _with_shares(ledger.totals_by_user(since, limit=ROWS), month),
        "by_language_model": _with_shares(ledger.totals_by_language_model(since, limit=ROWS), month),
        "failures": ledger.failures_by_code(since, limit=ROWS),
    }


def _with_shares(rows: list[Any], month: Totals) -> list[tuple[Any, int]]:
    """Put beside each row its part of the month's cost in per mille; of its tokens while nothing has a cost."""
    if month.cost_usd:
        return [(row, int(1000 * row.totals.cost_usd / month.cost_usd)) for row in rows]
    return [(row, 1000 * row.totals.tokens // max(month.tokens, 1)) for row in rows]


def cost_chart(days: list[DayTotals]) -> dict[str, str]:
    costs = [float(day.totals.cost_usd) for day in days]
    money = {"style": "currency", "currency": "USD", "minimumFractionDigits": 2, "maximumFractionDigits": 10}
    return bar_chart(_labels(days), {"Cost": ("cost", costs)}, number_format=money)


def token_chart(days: list[DayTotals]) -> dict[str, str]:
    totals = [day.totals for day in days]
    series = {
        "Input": ("input", [each.input_tokens - each.cached_input_tokens for each in totals]),
        "Cached input": ("cached", [each.cached_input_tokens for each in totals]),
        "Output": ("output", [each.output_tokens for each in totals]),
    }
    return bar_chart(_labels(days), series, number_format={"maximumFractionDigits": 0})


def _labels(days: list[DayTotals]) -> list[str]:
    return [f"{day.day:%b} {day.day.day}" for day in days]
