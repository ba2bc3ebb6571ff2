"""The postings of a conversation in the database: append those of new passages, and cut them off at an ordinal.

An entry is `ordinal in the chunk, count of the lexeme, words of the passage`; see `MessagePostings`.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from typing import NamedTuple

from django.db import connection

from conversations.models import MessagePostings
from conversations.models.message_postings import BEGINS_MESSAGE, BEGINS_SESSION, CHUNK_PASSAGES, EVERY_PASSAGE

ENTRY = struct.Struct("<HBB")
MOST_COUNTED = 255  # of a lexeme or of words in a passage

COUNT_PASSAGES = f"earlier + length(entries) / {ENTRY.size}"  # SQL, of a row: how many passages until its end have it
# SQL: each of *lexemes* that is in *conversation*, and in how many of its passages, by one row of each.
PASSAGES_BY_LEXEME = f"""
SELECT asked.lexeme, newest.passages FROM unnest(%(lexemes)s::text[]) AS asked (lexeme)
CROSS JOIN LATERAL (
  SELECT {COUNT_PASSAGES} AS passages FROM conversations_messagepostings
  WHERE conversation_id = {{conversation}} AND lexeme = asked.lexeme ORDER BY chunk DESC LIMIT 1
) AS newest
"""  # noqa: S608  # a constant of ours
# Entries of one chunk of each conversation, which is its last one or comes after it. Of the conversations of one owner
# only one lists a lexeme that is new.
APPEND = f"""
INSERT INTO conversations_messagepostings AS stored
  (conversation_id, lexeme, chunk, entries, earlier, owner_id, is_listed)
SELECT conversation_id, lexeme, chunk, entries, coalesce((
  SELECT {COUNT_PASSAGES} FROM conversations_messagepostings AS before
  WHERE before.conversation_id = fresh.conversation_id AND before.lexeme = fresh.lexeme AND before.chunk < fresh.chunk
  ORDER BY before.chunk DESC LIMIT 1
), 0), owner_id, row_number() OVER (PARTITION BY owner_id, lexeme) = 1 AND NOT EXISTS (
  SELECT FROM conversations_messagepostings AS listed
  WHERE listed.owner_id = fresh.owner_id AND listed.lexeme = fresh.lexeme AND listed.is_listed
)
FROM unnest(%s::bigint[], %s::bigint[], %s::int[], %s::text[], %s::bytea[])
  AS fresh (conversation_id, owner_id, chunk, lexeme, entries)
ON CONFLICT (conversation_id, lexeme, chunk) DO UPDATE
  SET entries = stored.entries || EXCLUDED.entries, is_listed = stored.is_listed OR EXCLUDED.is_listed
"""  # noqa: S608  # a constant of ours
# Those whose last entry is at or behind the cut.
REACHING = """
SELECT lexeme, entries FROM conversations_messagepostings
WHERE conversation_id = %(conversation)s AND chunk = %(chunk)s
  AND get_byte(entries, length(entries) - 4) + 256 * get_byte(entries, length(entries) - 3) >= %(place)s
"""
SHORTEN = """
UPDATE conversations_messagepostings AS stored SET entries = substr(entries, 1, size)
FROM unnest(%(lexemes)s::text[], %(sizes)s::int[]) AS shortened (lexeme, size)
WHERE conversation_id = %(conversation)s AND chunk = %(chunk)s AND stored.lexeme = shortened.lexeme
"""
# Another row of the owner for each lexeme whose listed row goes, with its conversation or as that is cut off. One that
# keeps its first entry stays.
LIST_ELSEWHERE = """
UPDATE conversations_messagepostings AS stored SET is_listed = true
FROM (
  SELECT other.conversation_id, other.lexeme, other.chunk
  FROM conversations_messagepostings AS going CROSS JOIN LATERAL (
    SELECT conversation_id, lexeme, chunk FROM conversations_messagepostings AS other
    WHERE other.owner_id = going.owner_id AND other.lexeme = going.lexeme
      AND (other.conversation_id <> going.conversation_id OR other.chunk < %(chunk)s) LIMIT 1
  ) AS other
  WHERE going.conversation_id = %(conversation)s AND going.is_listed AND (
    going.chunk > %(chunk)s
    OR going.chunk = %(chunk)s AND get_byte(going.entries, 0) + 256 * get_byte(going.entries, 1) >= %(place)s
  )
) AS chosen
WHERE stored.conversation_id = chosen.conversation_id AND stored.lexeme = chosen.lexeme AND stored.chunk = chosen.chunk
"""


class IndexedPassage(NamedTuple):
    """A passage as it is posted: its *counts* by lexeme, of *words* in all, and whether it is the first of some."""

    ordinal: int
    words: int
    counts: Mapping[str, int]
    begins_message: bool
    begins_session: bool

    @property
    def flags(self) -> int:
        return BEGINS_MESSAGE * self.begins_message + BEGINS_SESSION * self.begins_session


class IndexedConversation(NamedTuple):
    """The next *passages* of a conversation, in the order of their ordinals."""

    id: int
    owner_id: int
    passages: Sequence[IndexedPassage]


def append_postings(conversations: Iterable[IndexedConversation]) -> None:
    """Post the passages of different *conversations*, which are all behind those that are posted."""
    chunks = [_chunks(conversation) for conversation in conversations]
    with connection.cursor() as cursor:
        # The first chunk of each, then the second: a row counts those of the chunks before.
        for rows in zip_longest(*chunks, fillvalue=()):
            columns = zip(*chain.from_iterable(rows), strict=True)
            cursor.execute(APPEND, [list(column) for column in columns])


def _chunks(conversation: IndexedConversation) -> Iterator[list[tuple[int, int, int, str, bytes]]]:
    """Yield the rows of `APPEND` of one chunk after the other."""
    entries: dict[int, dict[str, bytearray]] = defaultdict(lambda: defaultdict(bytearray))
    for passage in conversation.passages:
        chunk, place = divmod(passage.ordinal, CHUNK_PASSAGES)
        words = min(passage.words, MOST_COUNTED)
        entries[chunk][EVERY_PASSAGE] += ENTRY.pack(place, passage.flags, words)
        for lexeme, count in passage.counts.items():
            entries[chunk][lexeme] += ENTRY.pack(place, min(count, MOST_COUNTED), words)
    for chunk, by_lexeme in entries.items():
        yield [
            (conversation.id, conversation.owner_id, chunk, lexeme, bytes(each)) for lexeme, each in by_lexeme.items()
        ]


def cut_postings(conversation_id: int, ordinal: int) -> None:
    """Take the passages from *ordinal* on out of the postings."""
    chunk, place = divmod(ordinal, CHUNK_PASSAGES)
    list_elsewhere(conversation_id, ordinal=ordinal)
    postings = MessagePostings.objects.filter(conversation_id=conversation_id)
    postings.filter(chunk__gt=chunk if place else chunk - 1).delete()
    with connection.cursor() as cursor:
        cursor.execute(REACHING, {"conversation": conversation_id, "chunk": chunk, "place": place})
        sizes = {lexeme: _size_before(bytes(entries), place) for lexeme, entries in cursor.fetchall()}
        shortened = {lexeme: size for lexeme, size in sizes.items() if size}
        columns = {"lexemes": list(shortened), "sizes": list(shortened.values())}
        cursor.execute(SHORTEN, {"conversation": conversation_id, "chunk": chunk, **columns})
    postings.filter(chunk=chunk, lexeme__in=sizes.keys() - shortened.keys()).delete()


def list_elsewhere(conversation_id: int, *, ordinal: int = 0) -> None:
    """Have the lexemes that are listed for their owner by passages from *ordinal* on alone listed by rows that stay."""
    chunk, place = divmod(ordinal, CHUNK_PASSAGES)
    with connection.cursor() as cursor:
        cursor.execute(LIST_ELSEWHERE, {"conversation": conversation_id, "chunk": chunk, "place": place})


def _size_before(entries: bytes, place: int) -> int:
    """Return how many bytes the entries of the ordinals before *place* take."""
    return ENTRY.size * bisect_left(
        range(len(entries) // ENTRY.size), place, key=lambda index: ENTRY.unpack_from(entries, index * ENTRY.size)[0]
    )
