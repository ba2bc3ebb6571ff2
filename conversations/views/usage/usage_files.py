"""The tables of a user's usage as rows of files. The names of columns are the same in every language."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from chatsite.accounts.models import User
from conversations.selectors.figures.figures import By, all_rows
from conversations.selectors.figures.own_usage import all_usage_by_conversation, own_filters
from conversations.selectors.figures.period import Period
from conversations.selectors.figures.totals import Totals

FIGURES_IN_FILES = (
    *("cost_usd", "unknown_costs", "replies", "completions", "input_tokens", "cached_input_tokens"),
    *("cache_reported_input_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens"),
)
Row = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class UsageFile:
    """A table as a file: its name on the page, and what its rows are."""

    label: Promise
    rows: Callable[[User, Period], Iterator[Row]]


def _file_row(name: object, totals: Totals) -> Row:
    return (name, *(getattr(totals, figure) for figure in FIGURES_IN_FILES))


def _rows_by(by: By) -> Callable[[User, Period], Iterator[Row]]:
    """Return what yields the rows of a table whose first column is named like the table itself."""

    def rows(user: User, period: Period) -> Iterator[Row]:
        found: Iterator[Any] = all_rows(period, own_filters(user), by=by)
        return (_file_row(getattr(row, by), row.totals) for row in found)

    return rows


def _conversations(user: User, period: Period) -> Iterator[Row]:
    usage = all_usage_by_conversation(user, period)
    yield from (_file_row(row.title, row.totals) for row in usage.rows)
    if usage.gone.completions:
        yield _file_row(gettext("Deleted or outside conversations"), usage.gone)


FILES = {
    "day": UsageFile(gettext_lazy("Days"), _rows_by("day")),
    "conversation": UsageFile(gettext_lazy("Conversations"), _conversations),
    "language_model": UsageFile(gettext_lazy("Language models"), _rows_by("language_model")),
    "purpose": UsageFile(gettext_lazy("Purposes"), _rows_by("purpose")),
}
