"""Recalled passages as pages tell of them: who said each, when, by which words it was found, and its beginning."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from django.db import connection

from conversations.core.window.window_record import RecallEntry, RecallRecord
from conversations.grounding.recall.shared_words import shared_words

EXCERPT_CHARACTERS = 280

# Of a passage in which no words are looked for only the beginning is read: it may be long, and its message longer.
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
    The *excerpt* is its text on one line, the beginning of a long one; dots stand for what is not in it. *words* are
    those of the question in it, where it was found by words.
    """

    entry: RecallEntry
    conversation: uuid.UUID | None
    title: str
    role: str
    name: str
    is_active: bool
    never_recalled: bool
    excerpt: str
    words: tuple[str, ...] = ()

    @property
    def at(self) -> dt.datetime:
        """When it was said."""
        return dt.datetime.fromisoformat(self.entry.at)


@dataclass(frozen=True, slots=True)
class RecalledView:
    """What was found in older messages, best first: what of it was *included*, and what was *left_out*."""

    included: list[RecalledRow]
    left_out: list[RecalledRow]


def view_recalled(record: RecallRecord, *, question: str = "") -> RecalledView:
    """Return the passages of *record*, which were found for *question*, with their text."""
    entries = [*record.included, *record.left_out]
    stored = _read(entries) if entries else {}
    rows = [_row(entry, stored.get(number)) for number, entry in enumerate(entries, start=1)]
    texts = [stored[number].text if number in stored else "" for number in range(1, len(rows) + 1)]
    rows = list(_with_words(rows, texts, question))
    return RecalledView(rows[: len(record.included)], rows[len(record.included) :])


def _with_words(rows: Sequence[RecalledRow], texts: Sequence[str], question: str) -> Iterator[RecalledRow]:
    words = shared_words(
        question, [text if _is_found_by_words(row.entry) else "" for row, text in zip(rows, texts, strict=True)]
    )
    yield from (replace(row, words=shared) for row, shared in zip(rows, words, strict=True))


def _is_found_by_words(entry: RecallEntry) -> bool:
    return "words" in entry.why


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
        "sizes": [_characters_to_read(entry) for entry in entries],
    }
    with connection.cursor() as cursor:
        cursor.execute(STORED, parameters)
        return {number: _Stored(*columns) for number, *columns in cursor.fetchall()}


def _characters_to_read(entry: RecallEntry) -> int:
    characters = entry.end - entry.start
    return characters if _is_found_by_words(entry) else min(characters, EXCERPT_CHARACTERS + 1)
