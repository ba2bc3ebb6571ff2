"""The tables of the page: who and what cost most, each row with the ways that lead on from it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy, ngettext

from conversations.models.completion import Purpose
from conversations.selectors import figures
from conversations.selectors.figures import Figures
from conversations.selectors.totals import Totals
from conversations.templatetags.figures import count

from .address import DEAREST_FIRST, Address


@dataclass(frozen=True, slots=True)
class Row:
    """What a row is called, its sums, and its *share* of the table in per mille.

    *narrow* leads to this page with nothing but the row in it, *completions* to its part of the ledger, *opened* to
    what the row is about, which was *begun_on* that day; blank where there is no such way.
    """

    name: str
    totals: Totals
    share: int
    narrow: str = ""
    completions: str = ""
    opened: str = ""
    begun_on: dt.date | None = None


@dataclass(frozen=True, slots=True)
class ShownTable:
    """*key* is what its file is called, *head* what the first column is."""

    key: str
    title: str
    head: str
    rows: list[Row]
    file: str
    open_word: str = ""


@dataclass(frozen=True, slots=True)
class _Ways:
    """What becomes of one row of figures, but for its sums."""

    name: str
    narrow: str = ""
    completions: str = ""
    opened: str = ""
    begun_on: dt.date | None = None


WaysOf = Callable[[Any, Address], _Ways]


def tables(shown: Figures, address: Address) -> list[ShownTable]:
    """Return all tables, those that need the whole width first."""
    return [
        ShownTable(
            key,
            str(title),
            str(head),
            list(_rows(getattr(shown, f"by_{key}"), shown.total, ways, address)),
            address.file(key),
            str(open_word),
        )
        for key, title, head, ways, open_word in TABLES
    ]


def _rows(table: figures.Table[Any], total: Totals, ways: WaysOf, address: Address) -> Iterable[Row]:
    for row in table.rows:
        way = ways(row, address)
        yield Row(
            way.name, row.totals, _share(row.totals, total), way.narrow, way.completions, way.opened, way.begun_on
        )
    if table.others_count:
        name = ngettext("%(count)s other", "%(count)s others", table.others_count)
        yield Row(name % {"count": count(table.others_count)}, table.others, _share(table.others, total))


def _share(part: Totals, whole: Totals) -> int:
    """Return a part of the cost in per mille; of the tokens while nothing has a cost."""
    if whole.cost_usd:
        return int(1000 * part.cost_usd / whole.cost_usd)
    return 1000 * part.tokens // max(whole.tokens, 1)


def _user(row: figures.UserTotals, address: Address) -> _Ways:
    if row.user_id is None:
        return _Ways(gettext("accounts that are gone"), completions=address.completions(user__isnull=1))
    return _Ways(
        row.email or "",
        address.narrowed(user_id=row.user_id),
        address.completions(user=row.user_id),
        reverse("admin:accounts_user_change", args=[row.user_id]),
    )


def _conversation(row: figures.ConversationTotals, address: Address) -> _Ways:
    if row.conversation_id is None:
        name = gettext("outside conversations, or gone")
        return _Ways(name, completions=address.completions(conversation__isnull=1))
    return _Ways(
        f"{short_id(row.public_id)} · {row.owner_email}",
        address.narrowed(conversation_id=row.conversation_id),
        address.completions(conversation=row.conversation_id, **DEAREST_FIRST),
        reverse("admin:conversations_conversation_change", args=[row.conversation_id]),
        row.begun_at.astimezone(address.chosen.period.zone).date() if row.begun_at else None,
    )


def short_id(public_id: object) -> str:
    """Return as much of a conversation's id as tells it from others on a page."""
    return str(public_id)[:8]


def _language_model(row: figures.LanguageModelTotals, address: Address) -> _Ways:
    name = row.language_model
    return _Ways(name, address.narrowed(language_model=name), address.completions(language_model=name))


def _scenario(row: figures.ScenarioTotals, address: Address) -> _Ways:
    if row.scenario_id is None:
        name = gettext("none, or gone")
        return _Ways(name, completions=address.completions(scenario__isnull=1))
    name = row.name or gettext("Scenario %(id)s") % {"id": row.scenario_id}
    narrow = address.narrowed(scenario_id=row.scenario_id)
    return _Ways(name, narrow, address.completions(scenario=row.scenario_id))


def _purpose(row: figures.PurposeTotals, address: Address) -> _Ways:
    name = str(Purpose(row.purpose).label)
    return _Ways(name, address.narrowed(purpose=row.purpose), address.completions(purpose__exact=row.purpose))


# Name in the files' addresses, title, head of the first column, what leads on from a row, what its own page is called.
TABLES: list[tuple[str, Promise, Promise, WaysOf, Promise | str]] = [
    ("user", gettext_lazy("Users"), gettext_lazy("User"), _user, gettext_lazy("account")),
    (
        "conversation",
        gettext_lazy("Most expensive conversations"),
        gettext_lazy("Conversation"),
        _conversation,
        gettext_lazy("conversation"),
    ),
    ("language_model", gettext_lazy("Language models"), gettext_lazy("Language model"), _language_model, ""),
    ("scenario", gettext_lazy("Scenarios"), gettext_lazy("Scenario"), _scenario, ""),
    ("purpose", gettext_lazy("Purposes"), gettext_lazy("Purpose"), _purpose, ""),
]
