"""The tables of the first page: users, conversations … that cost most, each row with its links."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from conversations.models.completion import Purpose
from conversations.models.conversation import short_id
from conversations.models.scenario import scenario_name
from conversations.selectors.figures.figures import (
    ConversationTotals,
    Figures,
    LanguageModelTotals,
    PurposeTotals,
    ScenarioTotals,
    Table,
    UserTotals,
)
from conversations.selectors.figures.totals import Totals
from conversations.templatetags.figures import others

from .address import MOST_EXPENSIVE_FIRST, Address


@dataclass(frozen=True, slots=True)
class RowLinks:
    """The name of a row, and its links; blank where there is none.

    *narrow* leads to this page with the row as a filter, *completions* to its part of the ledger, *subject* to the page
    of what the row is about, which was *begun_on* that day.
    """

    name: str
    narrow: str = ""
    completions: str = ""
    subject: str = ""
    begun_on: dt.date | None = None


LinksOf = Callable[[Any, Address], RowLinks]


@dataclass(frozen=True, slots=True)
class Row:
    """*share* is its part of the total in per mille."""

    links: RowLinks
    totals: Totals
    share: int


@dataclass(frozen=True, slots=True)
class ShownTable:
    """*key* names its file, *head* its first column; *subject_label* is the text of the links to rows' subjects."""

    key: str
    title: Promise
    head: Promise
    subject_label: Promise | str
    rows: list[Row]
    file: str

    @property
    def counts_requests(self) -> bool:
        """Whether requests are counted and not replies, which may take several of different purposes."""
        return self.key == "purpose"


def tables(figures: Figures, address: Address) -> list[ShownTable]:
    """Return all tables, those that need the whole width first."""
    return [
        ShownTable(
            key,
            title,
            head,
            subject_label,
            list(_rows(getattr(figures, f"by_{key}"), figures.total, links_of, address)),
            address.file(key),
        )
        for key, title, head, links_of, subject_label in TABLES
    ]


def _rows(table: Table[Any], total: Totals, links_of: LinksOf, address: Address) -> Iterable[Row]:
    for row in table.rows:
        yield _row(links_of(row, address), row.totals, total)
    if table.rest_count:
        yield _row(RowLinks(others(table.rest_count)), table.rest, total)


def _row(links: RowLinks, totals: Totals, total: Totals) -> Row:
    return Row(links, totals, int(1000 * totals.part_of(total)))


def user_links(row: UserTotals, address: Address) -> RowLinks:
    if row.user_id is None:
        return RowLinks(gettext("deleted accounts"), completions=address.completions(user__isnull=1))
    return RowLinks(
        row.email or "",
        address.narrowed(user_id=row.user_id),
        address.completions(user=row.user_id),
        reverse("admin:accounts_user_change", args=[row.user_id]),
    )


def conversation_links(row: ConversationTotals, address: Address) -> RowLinks:
    if row.conversation_id is None or row.public_id is None:
        name = gettext("outside conversations or deleted")
        return RowLinks(name, completions=address.completions(conversation__isnull=1))
    return RowLinks(
        f"{short_id(row.public_id)} · {row.owner_email}",
        address.narrowed(conversation_id=row.conversation_id),
        address.completions(conversation=row.conversation_id, **MOST_EXPENSIVE_FIRST),
        reverse("admin:conversations_conversation_change", args=[row.conversation_id]),
        row.begun_at.astimezone(address.chosen.period.zone).date() if row.begun_at else None,
    )


def language_model_links(row: LanguageModelTotals, address: Address) -> RowLinks:
    name = row.language_model
    return RowLinks(name, address.narrowed(language_model=name), address.completions(language_model=name))


def scenario_links(row: ScenarioTotals, address: Address) -> RowLinks:
    if row.scenario_id is None:
        name = gettext("none or deleted")
        return RowLinks(name, completions=address.completions(scenario__isnull=1))
    name = scenario_name(row.name) if row.name else gettext("Scenario %(id)s") % {"id": row.scenario_id}
    narrow = address.narrowed(scenario_id=row.scenario_id)
    return RowLinks(name, narrow, address.completions(scenario=row.scenario_id))


def purpose_links(row: PurposeTotals, address: Address) -> RowLinks:
    name = str(Purpose(row.purpose).label)
    return RowLinks(name, address.narrowed(purpose=row.purpose), address.completions(purpose__exact=row.purpose))


# Name of its file, title, head of the first column, the links of a row, the text of links to its subject.
TABLES: list[tuple[str, Promise, Promise, LinksOf, Promise | str]] = [
    ("user", gettext_lazy("Users"), gettext_lazy("User"), user_links, gettext_lazy("account")),
    (
        "conversation",
        gettext_lazy("Most expensive conversations"),
        gettext_lazy("Conversation"),
        conversation_links,
        gettext_lazy("conversation"),
    ),
    ("language_model", gettext_lazy("Language models"), gettext_lazy("Language model"), language_model_links, ""),
    ("scenario", gettext_lazy("Scenarios"), gettext_lazy("Scenario"), scenario_links, ""),
    ("purpose", gettext_lazy("Purposes"), gettext_lazy("Purpose"), purpose_links, ""),
]
