"""A conversation's index as numpy arrays: its passages, messages and sessions, and where each lexeme is.

    message_of[passage], session_of[message]: which message a passage is of, which session a message is of

An excluded message keeps its place, and no word of it is found.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from django.db import connection

from conversations.models.message_postings import BEGINS_MESSAGE, BEGINS_SESSION, CHUNK_PASSAGES, EVERY_PASSAGE

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
ENTRIES = np.dtype([("place", "<u2"), ("count", "u1"), ("words", "u1")])

POSTINGS = """
SELECT lexeme, chunk, entries FROM conversations_messagepostings
WHERE conversation_id = %(conversation)s AND lexeme = ANY(%(lexemes)s) AND chunk <= %(chunk)s ORDER BY lexeme, chunk
"""
EXCLUDED = """
SELECT passage.ordinal FROM conversations_message message
JOIN conversations_messagepassage passage ON passage.message_id = message.id
WHERE message.conversation_id = %(conversation)s AND message.excluded
"""


class Postings(NamedTuple):
    """The passages that have a lexeme, by their ordinals, and how often each has it."""

    passages: Integers
    counts: Floats


@dataclass(frozen=True)
class ConversationArrays:
    """The passages of a conversation before a question. *words* are those of each passage."""

    conversation_id: int
    words: Floats
    message_starts: Integers
    session_starts: Integers
    is_excluded: npt.NDArray[np.bool_]

    @cached_property
    def message_of(self) -> Integers:
        return _repeat_by_start(self.message_starts, len(self.words))

    @cached_property
    def session_of_passage(self) -> Integers:
        return _repeat_by_start(self.session_starts, len(self.words))

    @cached_property
    def session_of(self) -> Integers:
        return self.session_of_passage[self.message_starts]

    @cached_property
    def is_joined(self) -> npt.NDArray[np.bool_]:
        """Whether each message but the last is in the session of the next one."""
        return np.equal(self.session_of[1:], self.session_of[:-1])

    @cached_property
    def session_words(self) -> Floats:
        return np.add.reduceat(self.words, self.session_starts)

    @cached_property
    def passages(self) -> int:
        """How many passages can be found."""
        return int(len(self.words) - self.is_excluded.sum())

    @property
    def messages(self) -> int:
        return len(self.message_starts)

    def best_by_message(self, values: Floats) -> Floats:
        """Return for each message the largest of its passages' *values*."""
        return np.maximum.reduceat(values, self.message_starts)

    def postings(self, rows: Iterable[tuple[int, bytes]]) -> Postings:
        """Return the passages of these rows of one lexeme that can be found."""
        ordinals, counts = _unpack(rows)
        is_found = ordinals < len(self.words)
        is_found[is_found] &= ~self.is_excluded[ordinals[is_found]]
        return Postings(ordinals[is_found], counts["count"][is_found].astype(np.float64))


Rows = Mapping[str, list[tuple[int, bytes]]]


def read_postings(conversation_id: int, lexemes: Collection[str], *, passages: int) -> Rows:
    """Return the stored rows of each of *lexemes*, (chunk, entries), for the first *passages*."""
    found: dict[str, list[tuple[int, bytes]]] = defaultdict(list)
    last_chunk = (passages - 1) // CHUNK_PASSAGES
    parameters: dict[str, Any] = {"conversation": conversation_id, "lexemes": list(lexemes), "chunk": last_chunk}
    with connection.cursor() as cursor:
        cursor.execute(POSTINGS, parameters)
        for lexeme, chunk, entries in cursor.fetchall():
            found[lexeme].append((chunk, bytes(entries)))
    return found


def read_arrays(conversation_id: int, rows: Rows, *, passages: int) -> ConversationArrays | None:
    """Return the first *passages* of a conversation as arrays; *rows* have those of `EVERY_PASSAGE`."""
    _, entries = _unpack(rows.get(EVERY_PASSAGE, []))
    entries = entries[:passages]
    if not len(entries):
        return None
    flags, words = entries["count"], entries["words"].astype(np.float64)
    excluded = np.zeros(len(entries), dtype=np.bool_)
    with connection.cursor() as cursor:
        cursor.execute(EXCLUDED, {"conversation": conversation_id})
        ordinals = np.fromiter((row[0] for row in cursor.fetchall()), dtype=np.int64)
    excluded[ordinals[ordinals < len(entries)]] = True
    words[excluded] = 0.0
    return ConversationArrays(
        conversation_id,
        words,
        message_starts=np.flatnonzero(flags & BEGINS_MESSAGE),
        session_starts=np.flatnonzero(flags & BEGINS_SESSION),
        is_excluded=excluded,
    )


def _unpack(rows: Iterable[tuple[int, bytes]]) -> tuple[Integers, npt.NDArray[Any]]:
    """Return the ordinals and the entries of rows of one lexeme."""
    stored = list(rows)
    entries = np.frombuffer(b"".join(each for _, each in stored), dtype=ENTRIES)
    firsts = [chunk * CHUNK_PASSAGES for chunk, _ in stored]
    sizes = [len(each) // ENTRIES.itemsize for _, each in stored]
    return np.repeat(np.array(firsts, dtype=np.int64), sizes) + entries["place"], entries


def _repeat_by_start(starts: Integers, length: int) -> Integers:
    return np.repeat(np.arange(len(starts)), np.diff(starts, append=length))
