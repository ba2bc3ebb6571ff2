"""The one source of all figures: sums over the ledger's completions of a period, by all that they are grouped by.

They come from the sums that settling a completion adds to (`LedgerSum`) and, unless they are filtered, from what these
are rolled up to when a day is closed, in a number of queries that does not depend on the data. Each table's rows, with
its *others*, add up to the total to the last digit. A reply is counted by its first attempt. Costs that are unknown are
counted and not added.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Generic, Literal, TypeVar

from django.db import connection, transaction
from django.db.models import Count, Max, Q

from conversations.models import Completion

from .figures_sql import ALL_ROWS, COLUMNS, FIGURES, GROUPINGS, LEDGER_SUMS, TOTAL, only
from .period import Period
from .rolled_up_figures_sql import CLOSED_UNTIL, ROLLED_UP_FIGURES, ROLLED_UP_TOTAL
from .totals import Totals
from .whole_spans import BEFORE_ALL, whole_spans

By = Literal["day", "user", "language_model", "scenario", "purpose", "conversation"]
AnyRow = TypeVar("AnyRow", bound="HasTotals")
Stored = Mapping[str, Any]
ROWS_AT_ONCE = 2_000


@dataclass(frozen=True, slots=True)
class Filters:
    """Which completions to look at; None is all."""

    user_id: int | None = None
    language_model: str | None = None
    scenario_id: int | None = None
    purpose: str | None = None
    conversation_id: int | None = None

    @property
    def chosen(self) -> dict[str, Any]:
        """Return what is asked for by the name of its column."""
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
    """Both None for the people together whose account is gone, and for what nobody in particular asked for."""

    user_id: int | None
    email: str | None


@dataclass(frozen=True, slots=True)
class LanguageModelTotals(HasTotals):
    language_model: str


@dataclass(frozen=True, slots=True)
class ScenarioTotals(HasTotals):
    """Both None for all scenarios together that are gone. How people call their own is theirs: these have no name."""

    scenario_id: int | None
    name: str | None


@dataclass(frozen=True, slots=True)
class PurposeTotals(HasTotals):
    purpose: str


@dataclass(frozen=True, slots=True)
class ConversationTotals(HasTotals):
    """All None for the conversations together that are gone. No title: a title is words."""

    conversation_id: int | None
    public_id: uuid.UUID | None
    owner_email: str | None
    begun_at: dt.datetime | None


@dataclass(frozen=True, slots=True)
class Table(Generic[AnyRow]):
    """The *rows* that cost most, dearest first, and the sums over the others, of which there are *others_count*."""

    rows: tuple[AnyRow, ...]
    others: Totals
    others_count: int


@dataclass(frozen=True, slots=True)
class Failures:
    """How often completions ended with *error_code*, and when the last one of them began."""

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
    grouped: dict[str, list[Stored]] = {name: [] for name in GROUPINGS.values()}
    statement = FIGURES.format(source=source or LEDGER_SUMS, filters=_conditions(filters))
    rolled_up = not (filters.chosen or source)
    for row in _read(ROLLED_UP_FIGURES if rolled_up else statement, period, filters, rows=rows):
        grouped[GROUPINGS[row["grouping"]]].append(row)
    total = _totals(grouped["total"][0])
    return Figures(
        period=period,
        total=total,
        by_day=_by_day(period, grouped["day"]),
        failures=read_failures(period, filters),
        **{f"by_{by}": _table(by, grouped[by], total) for by in ROW_MAKERS},
    )


def read_total(period: Period, filters: Filters = NO_FILTERS) -> Totals:
    """Return the figures' total alone, in two queries."""
    of_some = TOTAL.format(source=LEDGER_SUMS, filters=_conditions(filters))
    (row,) = _read(of_some if filters.chosen else ROLLED_UP_TOTAL, period, filters)
    return _totals(row)


def _read(statement: str, period: Period, filters: Filters, **parameters: int) -> list[Stored]:
    """Return its rows. Days that are closed after it is known which ones are, are read as if they were not."""
    with transaction.atomic(savepoint=False), connection.cursor() as cursor:
        cursor.execute(CLOSED_UNTIL)
        until = cursor.fetchone()[0] or BEFORE_ALL
        spans = {"until": until, "midnights": period.midnights, **whole_spans(period, until)}
        cursor.execute(statement, {**_parameters(period, filters), **spans, **parameters})
        return list(_dictionaries(cursor, cursor.fetchall()))


def all_rows(period: Period, filters: Filters = NO_FILTERS, *, by: By) -> Iterator[Any]:
    """Return the rows of one table of the figures without a limit: days in their order, all others dearest first."""
    return iter(read_figures(period, filters, rows=1).by_day) if by == "day" else _all_rows(period, filters, by)


def _all_rows(period: Period, filters: Filters, by: By) -> Iterator[Any]:
    statement = ALL_ROWS.format(
        source=LEDGER_SUMS, filters=_conditions(filters), column=COLUMNS[by], columns=only(COLUMNS[by])
    )
    with connection.chunked_cursor() as cursor:
        cursor.execute(statement, _parameters(period, filters))
        while rows := cursor.fetchmany(ROWS_AT_ONCE):
            yield from (ROW_MAKERS[by](row) for row in _dictionaries(cursor, rows))


def _conditions(filters: Filters) -> str:
    return " ".join(f"AND {name} = %({name})s" for name in filters.chosen)


def _parameters(period: Period, filters: Filters) -> dict[str, Any]:
    return {"begin": period.begin, "end": period.end, **filters.chosen}


def _dictionaries(cursor: Any, rows: Iterable[tuple[Any, ...]]) -> Iterator[Stored]:
    names = [column.name for column in cursor.description]
    return (dict(zip(names, row, strict=True)) for row in rows)


def _totals(row: Stored) -> Totals:
    return Totals(**{name: row[name] for name in TOTALS})


def _by_day(period: Period, rows: Iterable[Stored]) -> tuple[DayTotals, ...]:
    found = {row["day"]: _totals(row) for row in rows}
    return tuple(DayTotals(found.get(number, Totals()), day) for number, day in enumerate(period.days))


def _table(by: By, rows: Sequence[Stored], total: Totals) -> Table[Any]:
    made = tuple(ROW_MAKERS[by](row) for row in rows)
    others_count = rows[0]["row_count"] - len(rows) if rows else 0
    return Table(made, total.without(row.totals for row in made), others_count)


def read_failures(period: Period, filters: Filters = NO_FILTERS) -> tuple[Failures, ...]:
    """Return the classes of failure, most frequent first; there are as many as we have codes."""
    began = Q(created_at__gte=period.begin, created_at__lt=period.end)
    failed = Completion.objects.filter(began, **filters.chosen).exclude(error_code="").order_by().values("error_code")
    grouped = failed.annotate(count=Count("*"), last_at=Max("created_at")).order_by("-count", "error_code")
    return tuple(Failures(**row) for row in grouped)


TOTALS = tuple(field.name for field in fields(Totals))
ROW_MAKERS: dict[By, Callable[[Stored], HasTotals]] = {
    "user": lambda row: UserTotals(_totals(row), row["user_id"], row["email"]),
    "language_model": lambda row: LanguageModelTotals(_totals(row), row["language_model"]),
    "scenario": lambda row: ScenarioTotals(_totals(row), row["scenario_id"], row["scenario_name"]),
    "purpose": lambda row: PurposeTotals(_totals(row), row["purpose"]),
    "conversation": lambda row: ConversationTotals(
        _totals(row), row["conversation_id"], row["public_id"], row["owner_email"], row["begun_at"]
    ),
}
