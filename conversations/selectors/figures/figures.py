"""Figures: sums over the ledger's completions of a period, in total, by day, user, language model and so on.

They are the one source of all figures on pages and in files. They come from the sums that settling a completion adds to
(`LedgerSum`) and, unless they are filtered, from the sums that these are rolled up to when a day is closed, in a number
of queries that does not depend on the data. Each table's rows, with its *rest*, add up to the total to the last digit.
A reply is counted by its first attempt. Costs that are unknown are counted and not added.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Generic, Literal, TypeVar

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from django.db.models import Count, Max, Q
from psycopg.sql import SQL

from chatsite.postgres.connection import long_work
from conversations.models import Completion

from .period import BEFORE_ALL, Period, closed_parts, closed_spans
from .rolled_up_statements import CLOSED_UNTIL, ROLLED_UP_FIGURES, ROLLED_UP_TOTAL
from .statements import ALL_ROWS, FIGURES, TOTAL_ALONE, figures_statement
from .totals import Totals

By = Literal["day", "user", "language_model", "scenario", "purpose", "conversation"]
AnyRow = TypeVar("AnyRow", bound="HasTotals")
NamedRow = Mapping[str, Any]
ROWS_AT_ONCE = 2_000


@dataclass(frozen=True, slots=True)
class Filters:
    """Which completions to add up; None is all."""

    user_id: int | None = None
    language_model: str | None = None
    scenario_id: int | None = None
    purpose: str | None = None
    conversation_id: int | None = None

    @property
    def chosen(self) -> dict[str, Any]:
        """Return column → value of the filters that are set."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class HasTotals:
    totals: Totals


@dataclass(frozen=True, slots=True)
class DayTotals(HasTotals):
    day: dt.date


@dataclass(frozen=True, slots=True)
class UserTotals(HasTotals):
    """Both None for all deleted accounts together, and for requests that no user asked for."""

    user_id: int | None
    email: str | None


@dataclass(frozen=True, slots=True)
class LanguageModelTotals(HasTotals):
    language_model: str


@dataclass(frozen=True, slots=True)
class ScenarioTotals(HasTotals):
    """Both None for all deleted scenarios together. The name of a user's own scenario is private: it is None."""

    scenario_id: int | None
    name: str | None


@dataclass(frozen=True, slots=True)
class PurposeTotals(HasTotals):
    purpose: str


@dataclass(frozen=True, slots=True)
class ConversationTotals(HasTotals):
    """All None for all deleted conversations together. No title: a title is content."""

    conversation_id: int | None
    public_id: uuid.UUID | None
    owner_email: str | None
    begun_at: dt.datetime | None


@dataclass(frozen=True, slots=True)
class Table(Generic[AnyRow]):
    """The *rows* that cost most, most expensive first, and the sums over the *rest*, which are *rest_count* rows."""

    rows: tuple[AnyRow, ...]
    rest: Totals
    rest_count: int


@dataclass(frozen=True, slots=True)
class Failures:
    """How often completions ended with *error_code*, and when the last one of these began."""

    error_code: str
    count: int
    last_at: dt.datetime


@dataclass(frozen=True, slots=True)
class Figures:
    """*by_day* has every day of the period, also those without completions."""

    period: Period
    total: Totals
    by_day: tuple[DayTotals, ...]
    by_user: Table[UserTotals]
    by_language_model: Table[LanguageModelTotals]
    by_scenario: Table[ScenarioTotals]
    by_purpose: Table[PurposeTotals]
    by_conversation: Table[ConversationTotals]
    failures: tuple[Failures, ...]


NO_FILTERS = Filters()


def read_figures(
    period: Period, filters: Filters = NO_FILTERS, *, rows: int = 10, source: str | None = None
) -> Figures:
    """Return all figures of the period with at most so many *rows* in each table, and at least one, in three queries.

    *source* is a table, or a subquery, with the columns of `LedgerSum`, to read all of them from.
    """
    statement = FIGURES if filters.chosen else ROLLED_UP_FIGURES
    if source:
        statement = figures_statement(SQL(source))
    tables: dict[str, list[NamedRow]] = defaultdict(list)
    for row in _read(statement, period, filters, rows=rows):
        tables[row["grouping"]].append(row)
    total = _totals(tables["total"][0])
    return Figures(
        period=period,
        total=total,
        by_day=_by_day(period, tables["day"]),
        failures=read_failures(period, filters),
        **{f"by_{by}": _table(by, tables[by], total) for by in ROW_MAKERS},
    )


def read_total(period: Period, filters: Filters = NO_FILTERS) -> Totals:
    """Return the figures' total alone, in two queries."""
    (row,) = _read(TOTAL_ALONE if filters.chosen else ROLLED_UP_TOTAL, period, filters)
    return _totals(row)


def _read(statement: str, period: Period, filters: Filters, **parameters: int) -> list[NamedRow]:
    """Return its rows. Days that are closed after it is known which ones are, are read as if they were not."""
    # Planning for each period would take longer than its plan saves. But of a single day few conversations may be in
    # closed days, which are found by their time if it is known, and filters are left out if they are known to be none.
    is_planned_once = statement in (ROLLED_UP_FIGURES, ROLLED_UP_TOTAL) and period.first < period.last
    with transaction.atomic(savepoint=False), connection.cursor() as cursor:
        cursor.execute(CLOSED_UNTIL, {"plan_cache_mode": "force_generic_plan" if is_planned_once else "auto"})
        (closed,) = _named_rows(cursor, cursor.fetchall())
        until = closed["closed_until"] or BEFORE_ALL
        spans = closed_spans(period, until, closed["weeks_until"] or BEFORE_ALL)
        parts = closed_parts(spans)
        known: dict[str, Any] = {
            **{"until": until, "midnights": period.midnights, **spans},
            "part_spans": [span for span, _ in parts],
            "part_begins": [begins_at for _, begins_at in parts],
        }
        cursor.execute(statement, {**_parameters(period, filters), **known, **parameters})
        return list(_named_rows(cursor, cursor.fetchall()))


def all_rows(period: Period, filters: Filters = NO_FILTERS, *, by: By) -> Iterator[Any]:
    """Return all rows of one table of the figures: days in their order, all others the most expensive first."""
    return iter(read_figures(period, filters, rows=1).by_day) if by == "day" else _all_rows(period, filters, by)


def _all_rows(period: Period, filters: Filters, by: By) -> Iterator[HasTotals]:
    with connection.chunked_cursor() as cursor:
        with long_work():
            cursor.execute(ALL_ROWS[by], {**_parameters(period, filters), "rows": None})
        while rows := cursor.fetchmany(ROWS_AT_ONCE):
            yield from (ROW_MAKERS[by](row) for row in _named_rows(cursor, rows))


def _parameters(period: Period, filters: Filters) -> dict[str, Any]:
    return {"begin": period.begin, "end": period.end, **asdict(filters)}


def _named_rows(cursor: CursorWrapper, rows: Iterable[Sequence[Any]]) -> Iterator[NamedRow]:
    """Return each row as column → value."""
    names = [column.name for column in cursor.description]
    return (dict(zip(names, row, strict=True)) for row in rows)


def _totals(row: NamedRow) -> Totals:
    return Totals(**{name: row[name] for name in TOTALS})


def _by_day(period: Period, rows: Iterable[NamedRow]) -> tuple[DayTotals, ...]:
    found = {row["key_id"]: _totals(row) for row in rows}
    return tuple(DayTotals(found.get(number, Totals()), day) for number, day in enumerate(period.days))


def _table(by: By, rows: Sequence[NamedRow], total: Totals) -> Table[Any]:
    made = tuple(ROW_MAKERS[by](row) for row in rows)
    rest_count = rows[0]["row_count"] - len(rows) if rows else 0
    return Table(made, total.without(row.totals for row in made), rest_count)


def count_running(filters: Filters = NO_FILTERS) -> int:
    """Return how many requests were sent and have not ended: they are in no figure yet."""
    return Completion.objects.filter(ended_at=None, **filters.chosen).count()


def read_failures(period: Period, filters: Filters = NO_FILTERS) -> tuple[Failures, ...]:
    """Return the classes of failure, most frequent first; there are as many as we have codes."""
    began = Q(created_at__gte=period.begin, created_at__lt=period.end)
    failed = Completion.objects.filter(began, **filters.chosen).exclude(error_code="").order_by().values("error_code")
    grouped = failed.annotate(count=Count("*"), last_at=Max("created_at")).order_by("-count", "error_code")
    return tuple(Failures(**row) for row in grouped)


TOTALS = tuple(field.name for field in fields(Totals))
ROW_MAKERS: dict[By, Callable[[NamedRow], HasTotals]] = {
    "user": lambda row: UserTotals(_totals(row), row["key_id"] or None, row["email"]),
    "language_model": lambda row: LanguageModelTotals(_totals(row), row["key_name"]),
    "scenario": lambda row: ScenarioTotals(_totals(row), row["key_id"] or None, row["scenario_name"]),
    "purpose": lambda row: PurposeTotals(_totals(row), row["key_name"]),
    "conversation": lambda row: ConversationTotals(
        _totals(row), row["key_id"] or None, row["public_id"], row["owner_email"], row["begun_at"]
    ),
}
