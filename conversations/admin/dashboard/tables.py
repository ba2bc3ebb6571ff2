"""The tables of the page: who and what cost most, each row with the ways that lead on from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from conversations.selectors.figures.figures import Figures, Table
from conversations.selectors.figures.totals import Totals
from conversations.templatetags.figures import others

from .address import Address
from .ways import Ways, of_conversation, of_language_model, of_purpose, of_scenario, of_user

WaysOf = Callable[[Any, Address], Ways]


@dataclass(frozen=True, slots=True)
class Row:
    """Its sums, and their *share* of all in per mille."""

    ways: Ways
    totals: Totals
    share: int


@dataclass(frozen=True, slots=True)
class ShownTable:
    """*key* is what its file is called, *head* what the first column is, *open_word* what rows are about."""

    key: str
    title: Promise
    head: Promise
    open_word: Promise | str
    rows: list[Row]
    file: str

    @property
    def counts_requests(self) -> bool:
        """Whether requests are counted and not replies, which may take several of different purposes."""
        return self.key == "purpose"


def tables(shown: Figures, address: Address) -> list[ShownTable]:
    """Return all tables, those that need the whole width first."""
    return [
        ShownTable(
            key,
            title,
            head,
            word,
            list(_rows(getattr(shown, f"by_{key}"), shown.total, ways, address)),
            address.file(key),
        )
        for key, title, head, ways, word in TABLES
    ]


def _rows(table: Table[Any], total: Totals, ways: WaysOf, address: Address) -> Iterable[Row]:
    for row in table.rows:
        yield _row(ways(row, address), row.totals, total)
    if table.rest_count:
        yield _row(Ways(others(table.rest_count)), table.rest, total)


def _row(ways: Ways, totals: Totals, whole: Totals) -> Row:
    return Row(ways, totals, int(1000 * totals.part_of(whole)))


# Name in the files' addresses, title, head of the first column, what leads on from a row, what its own page is called.
TABLES: list[tuple[str, Promise, Promise, WaysOf, Promise | str]] = [
    ("user", gettext_lazy("Users"), gettext_lazy("User"), of_user, gettext_lazy("account")),
    (
        "conversation",
        gettext_lazy("Most expensive conversations"),
        gettext_lazy("Conversation"),
        of_conversation,
        gettext_lazy("conversation"),
    ),
    ("language_model", gettext_lazy("Language models"), gettext_lazy("Language model"), of_language_model, ""),
    ("scenario", gettext_lazy("Scenarios"), gettext_lazy("Scenario"), of_scenario, ""),
    ("purpose", gettext_lazy("Purposes"), gettext_lazy("Purpose"), of_purpose, ""),
]
