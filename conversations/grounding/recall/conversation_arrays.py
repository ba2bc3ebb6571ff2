"""The index of a conversation, or of several, as numpy arrays: passages, messages, sessions, and where a lexeme is.

    message_of[passage], session_of[message]: which message a passage is of, which session a message is of

An excluded message keeps its place, and no word of it is found.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from django.db import connection

from conversations.models.message_postings import BEGINS_MESSAGE, BEGINS_SESSION, CHUNK_PASSAGES, EVERY_PASSAGE

from .candidate_rows import FIRST_KEPT
from .indexed_passages import IndexedPart, IndexedPassages

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
ENTRIES = np.dtype([("place", "<u2"), ("count", "u1"), ("words", "u1")])

POSTINGS = """
SELECT lexeme, chunk, entries FROM conversations_messagepostings
WHERE conversation_id = %(conversation)s AND lexeme = ANY(%(lexemes)s) AND {chunks} ORDER BY lexeme, chunk
"""
FIRST_CHUNKS = POSTINGS.format(chunks="chunk <= %(last)s")
SOME_CHUNKS = POSTINGS.format(chunks="chunk = ANY(%(chunks)s)")
# Excluded passages one by one; of each conversation where something is forgotten the first one that is not.
NOT_TO_BE_FOUND = f"""
SELECT message.conversation_id, passage.ordinal, false FROM conversations_message message
JOIN conversations_messagepassage passage ON passage.message_id = message.id
WHERE message.conversation_id = ANY(%(conversations)s) AND message.excluded
UNION ALL
SELECT conversation.id, {FIRST_KEPT}, true FROM conversations_conversation conversation
WHERE conversation.id = ANY(%(conversations)s) AND conversation.forgotten_before > 0
"""  # noqa: S608  # a constant of ours


class Postings(NamedTuple):
    """The passages that have a lexeme, by their ordinals, and how often each has it."""

    passages: Integers
    counts: Floats


@dataclass(frozen=True)
class ConversationArrays:
    """The passages of *index* before a question. *words* are those of each passage."""

    index: IndexedPassages
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

    def postings(self, rows: StoredPostings) -> Postings:
        """Return the passages of these rows of one lexeme that can be found."""
        ordinals, counts = _unpack(rows)
        is_found = ~self.is_excluded[ordinals]
        return Postings(ordinals[is_found], counts["count"][is_found].astype(np.float64))


class PostingsRow(NamedTuple):
    """A stored row of one lexeme: its *entries* of passages from ordinal *first* on, of a conversation until *stop*."""

    first: int
    stop: int
    entries: bytes


StoredPostings = list[PostingsRow]


def read_postings(index: IndexedPassages, lexemes: Collection[str]) -> Mapping[str, StoredPostings]:
    """Return the stored rows of each of *lexemes*, in the order of their ordinals."""
    found: dict[str, StoredPostings] = defaultdict(list)
    for part in index.parts:
        wanted: dict[str, Any] = {"conversation": part.conversation_id, "lexemes": list(lexemes)}
        with connection.cursor() as cursor:
            if part.chunks is None:
                cursor.execute(FIRST_CHUNKS, {**wanted, "last": (part.passages - 1) // CHUNK_PASSAGES})
            else:
                cursor.execute(SOME_CHUNKS, {**wanted, "chunks": list(part.chunks)})
            for lexeme, chunk, entries in cursor.fetchall():
                first = part.offset + CHUNK_PASSAGES * (part.rank_of_chunk(chunk) or 0)
                found[lexeme].append(PostingsRow(first, part.stop, bytes(entries)))
    return found


def read_arrays(index: IndexedPassages, rows: Mapping[str, StoredPostings]) -> ConversationArrays | None:
    """Return the passages of *index* as arrays; *rows* have those of `EVERY_PASSAGE`."""
    ordinals, entries = _unpack(rows.get(EVERY_PASSAGE, []))
    if not len(entries):
        return None
    # What is being indexed again is missing for a moment: then it is a message without a word, which is not found.
    excluded = np.ones(index.passages, dtype=np.bool_)
    words = np.zeros(index.passages, dtype=np.float64)
    flags = np.full(index.passages, BEGINS_MESSAGE | BEGINS_SESSION, dtype=np.uint8)
    excluded[ordinals], words[ordinals], flags[ordinals] = False, entries["words"], entries["count"]
    excluded[_read_excluded(index)] = True
    starts_again, is_cut = _cut_by_gaps(index, flags)
    flags[starts_again] |= BEGINS_MESSAGE | BEGINS_SESSION
    excluded[is_cut] = True
    words[excluded] = 0.0
    return ConversationArrays(
        index,
        words,
        message_starts=np.flatnonzero(flags & BEGINS_MESSAGE),
        session_starts=np.flatnonzero(flags & BEGINS_SESSION),
        is_excluded=excluded,
    )


def _cut_by_gaps(index: IndexedPassages, flags: npt.NDArray[np.uint8]) -> tuple[list[int], list[int]]:
    """Return the ordinals that follow on a gap between chunks, and those of the messages that a gap may cut.

    These are not found: their other passages are not looked in.
    """
    starts: list[int] = []
    cut: list[int] = []
    begins = np.flatnonzero(flags & BEGINS_MESSAGE)
    for part in index.parts:
        chunks = part.chunks or ()
        for rank, chunk in enumerate(chunks):
            start = part.offset + rank * CHUNK_PASSAGES
            stop = min(start + CHUNK_PASSAGES, part.stop)
            if chunk != (chunks[rank - 1] + 1 if rank else 0):
                starts.append(start)
                after = begins[np.searchsorted(begins, start) :]
                cut += range(start, min(int(after[0]), stop) if len(after) else stop)
            if rank + 1 < len(chunks) and chunks[rank + 1] != chunk + 1:
                before = begins[: np.searchsorted(begins, stop)]
                cut += range(max(int(before[-1]), start) if len(before) else start, stop)
    return starts, cut


def _read_excluded(index: IndexedPassages) -> Integers:
    """Return the ordinals of the passages of messages that are excluded or forgotten."""
    parts = {part.conversation_id: part for part in index.parts}
    with connection.cursor() as cursor:
        cursor.execute(NOT_TO_BE_FOUND, {"conversations": list(parts)})
        rows = cursor.fetchall()
    excluded = [parts[pk].in_look_up(ordinal) for pk, ordinal, is_first_kept in rows if not is_first_kept]
    forgotten = [_before(parts[pk], ordinal) for pk, ordinal, is_first_kept in rows if is_first_kept]
    one_by_one = np.array([ordinal for ordinal in excluded if ordinal is not None], dtype=np.int64)
    return np.concatenate([one_by_one, *forgotten])


def _before(part: IndexedPart, first_kept: int) -> Integers:
    """Return the ordinals in the look-up of the passages of *part* before the one with that ordinal in its index."""
    return part.offset + np.flatnonzero(_ordinals_in_index(part) < first_kept)


def _ordinals_in_index(part: IndexedPart) -> Integers:
    """Return for each passage of *part* its ordinal in the conversation's index."""
    inside = np.arange(part.passages, dtype=np.int64)
    if part.chunks is None:
        return inside
    return np.asarray(part.chunks, dtype=np.int64)[inside // CHUNK_PASSAGES] * CHUNK_PASSAGES + inside % CHUNK_PASSAGES


def _unpack(rows: StoredPostings) -> tuple[Integers, npt.NDArray[Any]]:
    """Return the ordinals and the entries of rows of one lexeme, without what has been indexed since."""
    entries = np.frombuffer(b"".join(row.entries for row in rows), dtype=ENTRIES)
    sizes = [len(row.entries) // ENTRIES.itemsize for row in rows]
    ordinals = np.repeat(np.array([row.first for row in rows], dtype=np.int64), sizes) + entries["place"]
    is_in = ordinals < np.repeat(np.array([row.stop for row in rows], dtype=np.int64), sizes)
    return (ordinals, entries) if is_in.all() else (ordinals[is_in], entries[is_in])


def _repeat_by_start(starts: Integers, length: int) -> Integers:
    return np.repeat(np.arange(len(starts)), np.diff(starts, append=length))
