"""Figures from the ledger: sums over completions, made by PostgreSQL in a fixed number of queries.

    cost_usd = sum of the costs that are known; unknown_costs = how many ended completions have none

An unfinished completion has neither a cost nor an unknown one yet. A reply is counted by its first attempt. Days are
days in UTC.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any, TypeVar

from django.db.models import Aggregate, Count, Max, Model, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce, TruncDate

from conversations.models import Completion
from conversations.models.completion import Purpose

IS_REPLY = Q(purpose=Purpose.REPLY, attempt=1)
HAS_FAILED = ~Q(error_code="")
HAS_UNKNOWN_COST = Q(ended_at__isnull=False, cost_usd=None)

AnyModel = TypeVar("AnyModel", bound=Model)


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over some completions. *cached_input_tokens* are part of the input."""

    completions: int = 0
    replies: int = 0
    users: int = 0
    failures: int = 0
    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: Decimal = Decimal(0)
    unknown_costs: int = 0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class DayTotals:
    day: dt.date
    totals: Totals


@dataclass(frozen=True, slots=True)
class UserTotals:
    """*user_id* and *email* are None for people whose account is gone."""

    user_id: int | None
    email: str | None
    totals: Totals


@dataclass(frozen=True, slots=True)
class LanguageModelTotals:
    language_model: str
    totals: Totals


@dataclass(frozen=True, slots=True)
class Failures:
    """How often completions ended with *error_code*, and when the last one began."""

    error_code: str
    count: int
    last_at: dt.datetime


# Prefixed, because an aggregate that bears a column's name hides the column from the aggregates after it.
AGGREGATES: dict[str, Any] = {
    "total_completions": Count("pk"),
    "total_replies": Count("pk", filter=IS_REPLY),
    "total_users": Count("user", distinct=True),
    "total_failures": Count("pk", filter=HAS_FAILED),
    "total_input_tokens": Coalesce(Sum("input_tokens"), 0),
    "total_cached_input_tokens": Coalesce(Sum("cached_input_tokens"), 0),
    "total_output_tokens": Coalesce(Sum("output_tokens"), 0),
    "total_cost_usd": Coalesce(Sum("cost_usd"), Decimal(0)),
    "total_unknown_costs": Count("pk", filter=HAS_UNKNOWN_COST),
}


def _totals(row: dict[str, Any]) -> Totals:
    return Totals(**{field.name: row[f"total_{field.name}"] for field in fields(Totals)})


def _since(moment: dt.datetime) -> QuerySet[Completion]:
    return Completion.objects.filter(created_at__gte=moment).order_by()


def totals_since(moment: dt.datetime) -> Totals:
    """Return the sums over all completions that began at *moment* or later."""
    return _totals(_since(moment).aggregate(**AGGREGATES))


def totals_by_day(first: dt.date, last: dt.date) -> list[DayTotals]:
    """Return one entry for every day from *first* to *last*, also for those without completions."""
    begin = dt.datetime.combine(first, dt.time(), dt.UTC)
    grouped = _since(begin).values(day=TruncDate("created_at", tzinfo=dt.UTC)).annotate(**AGGREGATES)
    by_day = {row["day"]: _totals(row) for row in grouped}
    days = [first + dt.timedelta(days=n) for n in range((last - first).days + 1)]
    return [DayTotals(day, by_day.get(day, Totals())) for day in days]


def totals_by_user(since: dt.datetime, *, limit: int) -> list[UserTotals]:
    """Return the *limit* people who cost most since then, dearest first."""
    rows = _dearest(since, "user", "user__email", limit=limit)
    return [UserTotals(row["user"], row["user__email"], _totals(row)) for row in rows]


def totals_by_language_model(since: dt.datetime, *, limit: int) -> list[LanguageModelTotals]:
    """Return the *limit* language models that cost most since then, dearest first."""
    rows = _dearest(since, "language_model", limit=limit)
    return [LanguageModelTotals(row["language_model"], _totals(row)) for row in rows]


def _dearest(since: dt.datetime, *group: str, limit: int) -> QuerySet[Completion, dict[str, Any]]:
    grouped = _since(since).values(*group).annotate(**AGGREGATES)
    return grouped.order_by("-total_cost_usd", "-total_input_tokens", group[0])[:limit]


def failures_by_code(since: dt.datetime, *, limit: int) -> list[Failures]:
    """Return the classes of failure since then, most frequent first."""
    failed = _since(since).filter(HAS_FAILED).values("error_code")
    grouped = failed.annotate(count=Count("pk"), last_at=Max("created_at")).order_by("-count", "error_code")
    return [Failures(**row) for row in grouped[:limit]]


def with_usage(queryset: QuerySet[AnyModel], *, of: str) -> QuerySet[AnyModel]:
    """Annotate rows with their part of the ledger: `input_tokens`, `output_tokens`, `cost_usd`, `unknown_costs`.

    *of* is the completion's foreign key to the rows: `conversation`, `user` or `reply`. A row without completions has
    NULL everywhere; a row with nothing but unknown costs has NULL as its cost.
    """
    completions = Completion.objects.filter(**{of: OuterRef("pk")}).order_by().values(of)

    def figure(aggregate: Aggregate) -> Subquery:
        return Subquery(completions.annotate(figure=aggregate).values("figure"))

    return queryset.annotate(
        input_tokens=figure(Sum("input_tokens")),
        output_tokens=figure(Sum("output_tokens")),
        cost_usd=figure(Sum("cost_usd")),
        unknown_costs=figure(Count("pk", filter=HAS_UNKNOWN_COST)),
    )
