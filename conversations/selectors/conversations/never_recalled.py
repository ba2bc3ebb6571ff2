"""The messages of a conversation that its owner has decided are never recalled, newest first."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import NamedTuple

from django.db.models.functions import Left

from conversations.models import Conversation

EXCERPT_CHARACTERS = 160
MOST_LISTED = 50


class NeverRecalledRow(NamedTuple):
    """One of them; the *excerpt* is its beginning on one line."""

    message: int
    position: int
    role: str
    name: str
    at: dt.datetime
    excerpt: str


class NeverRecalledList(NamedTuple):
    """The newest of them as *rows*, and how many *more* there are."""

    rows: Sequence[NeverRecalledRow]
    more: int


def list_never_recalled(conversation: Conversation) -> NeverRecalledList:
    """Return those on the active path."""
    decided = conversation.messages.filter(never_recalled=True, active=True).order_by("-position")
    columns = ("pk", "position", "role", "name", "created_at", Left("content", EXCERPT_CHARACTERS + 1))
    rows = [NeverRecalledRow(*row) for row in decided.values_list(*columns)[:MOST_LISTED]]
    more = decided.count() - len(rows) if len(rows) == MOST_LISTED else 0
    return NeverRecalledList([row._replace(excerpt=_on_one_line(row.excerpt)) for row in rows], more)


def _on_one_line(text: str) -> str:
    line = " ".join(text[:EXCERPT_CHARACTERS].split())
    return f"{line}…" if len(text) > EXCERPT_CHARACTERS else line
