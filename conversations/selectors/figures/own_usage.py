"""A user's own usage by conversation, with titles, and the usage of one conversation."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet, Sum
from django.utils.translation import gettext

from chatsite.accounts.models import User
from chatsite.postgres.compiled_queryset import compiled_queryset
from conversations.models import Conversation, LedgerSum
from conversations.models.conversation import TEMPORARY, UNTITLED

from .figures import ConversationTotals, Figures, Filters, all_rows, read_figures
from .period import Period
from .totals import SUMS, Totals


@dataclass(frozen=True, slots=True)
class OwnConversation:
    """A conversation that its owner can open."""

    public_id: uuid.UUID
    title: str
    totals: Totals


@dataclass(frozen=True, slots=True)
class OwnConversations:
    """The most expensive conversations, the *rest* that exist, and *gone*: deleted ones, and requests of none."""

    rows: list[OwnConversation]
    rest: Totals
    rest_count: int
    gone: Totals


def own_filters(user: User) -> Filters:
    return Filters(user_id=user.pk)


def usage_by_conversation(user: User, figures: Figures) -> OwnConversations:
    """Return the conversations of *figures*, which are the user's own, with their titles."""
    table = figures.by_conversation
    rows = _own(user, table.rows)
    gone = figures.total.without([table.rest, *(row.totals for row in rows)])
    return OwnConversations(rows, table.rest, table.rest_count, gone)


def all_usage_by_conversation(user: User, period: Period) -> OwnConversations:
    """Return all conversations of the period, without a limit, so that there is no rest."""
    rows = _own(user, list(all_rows(period, own_filters(user), by="conversation")))
    total = read_figures(period, own_filters(user), rows=1).total
    return OwnConversations(rows, Totals(), 0, total.without(row.totals for row in rows))


def _own(user: User, rows: Iterable[ConversationTotals]) -> list[OwnConversation]:
    """Return those of *rows* that have not been deleted, in their order."""
    found = {row.conversation_id: row.totals for row in rows if row.conversation_id}
    there = Conversation.objects.filter(owner_id=user.pk, deleted_at=None).in_bulk(list(found))
    return [
        OwnConversation(there[pk].public_id, _title(there[pk]), totals) for pk, totals in found.items() if pk in there
    ]


def _title(conversation: Conversation) -> str:
    """Return its title; the words of one that is temporary are in no list."""
    return gettext(TEMPORARY) if conversation.is_temporary else conversation.title or gettext(UNTITLED)


def totals_of_conversation(conversation: Conversation) -> Totals:
    """Return what the conversation has used so far."""
    sums = _sums_of_conversation.first(conversation.pk)
    return Totals(**dict(zip(SUMS, sums, strict=True))) if sums else Totals()


@compiled_queryset
def _sums_of_conversation(conversation_id: int) -> QuerySet[LedgerSum, tuple[Any, ...]]:
    rows = LedgerSum.objects.filter(conversation_id=conversation_id).values("conversation_id")
    return rows.annotate(**{f"of_{name}": Sum(name) for name in SUMS}).values_list(*(f"of_{name}" for name in SUMS))
