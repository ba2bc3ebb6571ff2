"""Recalled passages as pages tell of them: who said each and when, and the beginning of what was sent of it."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db import connection

from conversations.core.window.window_record import RecallEntry, RecallRecord

EXCERPT_CHARACTERS = 280
PAGE_GOES_ON = 10  # messages that a page shows after the one that a link leads to

# Only the beginning of each passage is read: it may be long, and its message longer.
STORED = """
SELECT entry.number, conversation.public_id, conversation.title, message.role, message.name,
       message.active AND conversation.deleted_at IS NULL, message.never_recalled,
       substr(message.content, entry.start + 1, entry.size)
FROM unnest(%(messages)s::bigint[], %(starts)s::int[], %(sizes)s::int[])
  WITH ORDINALITY AS entry (message, start, size, number)
JOIN conversations_message message ON message.id = entry.message
JOIN conversations_conversation conversation ON conversation.id = message.conversation_id
"""


class _Stored(NamedTuple):
    """What is stored of the message of a passage. It *is_active* while it is on the path that is shown."""

    conversation: uuid.UUID
    title: str
    role: str
    name: str
    is_active: bool
    never_recalled: bool
    text: str


@dataclass(frozen=True, slots=True)
class RecalledRow:
    """A passage that was found. It *is_active* while its message is on the path; *never_recalled* is its owner's wish.

    *conversation* is the public id of the one that it is from, *title* what that is called
    now; None where nothing is stored of it any more.
    The *excerpt* is its text on one line, the beginning of a long one; dots stand for what is not in it.
    """

    entry: RecallEntry
    conversation: uuid.UUID | None
    title: str
    role: str
    name: str
    is_active: bool
    never_recalled: bool
    excerpt: str

    @property
    def day(self) -> dt.date:
        return dt.datetime.fromisoformat(self.entry.at).date()

    @property
    def page_before(self) -> int:
        """The position before which a page of older messages ends that has this one, and some after it."""
        return self.entry.position + PAGE_GOES_ON


@dataclass(frozen=True, slots=True)
class RecalledView:
    """What was found in older messages, best first: what of it was *included*, and what was *left_out*."""

    included: list[RecalledRow]
    left_out: list[RecalledRow]


def view_recalled(record: RecallRecord) -> RecalledView:
    """Return the passages of *record* with their text."""
    rows = _rows([*record.included, *record.left_out])
    return RecalledView(rows[: len(record.included)], rows[len(record.included) :])


def _rows(entries: Sequence[RecallEntry]) -> list[RecalledRow]:
    stored = _read(entries) if entries else {}
    return [_row(entry, stored.get(number)) for number, entry in enumerate(entries, start=1)]


def _row(entry: RecallEntry, stored: _Stored | None) -> RecalledRow:
    if stored is None:
        return RecalledRow(entry, None, title="", role="", name="", is_active=False, never_recalled=False, excerpt="")
    text = " ".join(stored.text[:EXCERPT_CHARACTERS].split())
    before = "…" if entry.is_cut and entry.start else ""
    after = "…" if entry.is_cut or len(stored.text) > EXCERPT_CHARACTERS else ""
    return RecalledRow(
        entry,
        stored.conversation,
        stored.title,
        stored.role,
        stored.name,
        stored.is_active,
        stored.never_recalled,
        f"{before}{text}{after}",
    )


def _read(entries: Sequence[RecallEntry]) -> dict[int, _Stored]:
    parameters = {
        "messages": [entry.message for entry in entries],
        "starts": [entry.start for entry in entries],
        "sizes": [min(entry.end - entry.start, EXCERPT_CHARACTERS + 1) for entry in entries],
    }
    with connection.cursor() as cursor:
        cursor.execute(STORED, parameters)
        return {number: _Stored(*columns) for number, *columns in cursor.fetchall()}
