"""Choose the chunks of a very large conversation's index that a question is likely to need; only these are looked in.

    the question's rarest lexemes → their postings → BM25 of passages → the chunks of the best ones
                                                                       and of what was found in other ways

So a look-up takes about as long however long the conversation is. How rare a word is is still told by all of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db import connection

from conversations.models.message_postings import CHUNK_PASSAGES

from .conversation_arrays import ENTRIES, Integers
from .indexed_passages import IndexedPart, IndexedPassages
from .question_terms import IndexedQuestion, PassageCounts, count_passages, rarest
from .term_scores import K1, PASSAGE_B, idf

LARGE_PASSAGES = 100_000
NEWEST_CHUNKS = 2
FOUND_CHUNKS = 8  # of what was found in other ways
MOST_CHUNKS = 24
MOST_POSTINGS = 100_000  # of all lexemes together

# One row for each lexeme: a row for each chunk of a very large conversation would take longer than all the rest.
POSTINGS = """
SELECT lexeme, string_agg(int4send(chunk), ''::bytea ORDER BY chunk),
       string_agg(int4send(length(entries)), ''::bytea ORDER BY chunk), string_agg(entries, ''::bytea ORDER BY chunk)
FROM conversations_messagepostings
WHERE conversation_id = %(conversation)s AND lexeme = ANY(%(lexemes)s) AND chunk <= %(last)s GROUP BY lexeme
"""


def ask_likely_chunks(asked: IndexedQuestion, found: Collection[int]) -> IndexedQuestion:
    """Return the question as it is put to the chunks of its likely passages, and of those with the ordinals *found*.

    The newest chunks are always among them, and of a conversation that is not large all are.
    """
    counts = PassageCounts(asked.passages, count_passages(asked.index, asked.lexemes))
    parts: list[IndexedPart] = []
    offset = 0
    for part in asked.index.parts:
        sought = min(part.passages, asked.sought - part.offset)
        if part.passages > LARGE_PASSAGES:
            inside = [ordinal - part.offset for ordinal in found if part.offset <= ordinal < part.stop]
            chunks = _choose_chunks(part, _best_chunks(part, counts, sought=sought), inside)
            parts.append(part.of_chunks(chunks, offset=offset))
            sought = _passages_before(sought, chunks)
        else:
            parts.append(part._replace(offset=offset))
        offset = parts[-1].stop
    return replace(asked, index=IndexedPassages(tuple(parts)), sought=parts[-1].offset + sought, counts=counts)


def _best_chunks(part: IndexedPart, counts: PassageCounts, *, sought: int) -> list[int]:
    """Return the chunks by the best of their passages among the first *sought*, best first.

    By BM25 of the words; how long a passage is on average is taken from those that have one of them.
    """
    lexemes = rarest(counts.by_lexeme, most_passages=MOST_POSTINGS)
    found = [
        (idf(counts.total, counts.by_lexeme[lexeme]), ordinals, entries)
        for lexeme, ordinals, entries in _read_postings(part, lexemes)
    ]
    if not found:
        return []
    ordinals = np.concatenate([each for _, each, _ in found])
    entries = np.concatenate([each for _, _, each in found])
    weights = np.repeat([weight for weight, _, _ in found], [len(each) for _, each, _ in found])
    tf, words = entries["count"].astype(np.float64), entries["words"].astype(np.float64)
    scores = weights * tf / (tf + K1 * (1 - PASSAGE_B + PASSAGE_B * words / max(float(words.mean()), 1.0)))
    chunks = -(-part.passages // CHUNK_PASSAGES)
    sums = np.bincount(ordinals, weights=scores, minlength=chunks * CHUNK_PASSAGES)
    sums[sought:] = 0.0
    tops = sums.reshape(chunks, CHUNK_PASSAGES).max(axis=1)
    best = np.argsort(-tops, kind="stable")
    chosen: list[int] = best[tops[best] > 0].tolist()
    return chosen


def _read_postings(part: IndexedPart, lexemes: Collection[str]) -> Iterable[tuple[str, Integers, npt.NDArray[Any]]]:
    """Yield the postings of each lexeme in all of a conversation's index: ordinals there, and entries."""
    wanted: dict[str, Any] = {"lexemes": list(lexemes), "last": (part.passages - 1) // CHUNK_PASSAGES}
    with connection.cursor() as cursor:
        cursor.execute(POSTINGS, {"conversation": part.conversation_id, **wanted})
        for lexeme, chunks, sizes, stored in cursor.fetchall():
            entries = np.frombuffer(stored, dtype=ENTRIES)
            firsts = CHUNK_PASSAGES * _integers(chunks)
            yield lexeme, np.repeat(firsts, _integers(sizes) // ENTRIES.itemsize) + entries["place"], entries


def _integers(sent: bytes) -> Integers:
    """Return integers as `int4send` writes them."""
    return np.frombuffer(sent, dtype=">i4").astype(np.int64)


def _choose_chunks(part: IndexedPart, best: Iterable[int], found: Iterable[int]) -> list[int]:
    """Return the chunks to look in, ascending: the newest, those of the passages *found*, the *best*."""
    last = (part.passages - 1) // CHUNK_PASSAGES
    chosen = dict.fromkeys(range(max(0, last - NEWEST_CHUNKS + 1), last + 1))
    of_found = (ordinal // CHUNK_PASSAGES for ordinal in found)
    for chunks, most in ((of_found, NEWEST_CHUNKS + FOUND_CHUNKS), (best, MOST_CHUNKS)):
        for chunk in chunks:
            if len(chosen) >= most:
                break
            chosen[chunk] = None
    return sorted(chosen)


def _passages_before(ordinal: int, chunks: Iterable[int]) -> int:
    """Return how many passages of *chunks* have a smaller ordinal in the index."""
    return sum(min(max(ordinal - chunk * CHUNK_PASSAGES, 0), CHUNK_PASSAGES) for chunk in chunks)


def move_ordinals(values: Mapping[int, float], whole: IndexedPassages, narrowed: IndexedPassages) -> dict[int, float]:
    """Return *values* by ordinals of *narrowed*, those that are looked in, in place of those of *whole*."""
    moved: dict[int, float] = {}
    for old, new in zip(whole.parts, narrowed.parts, strict=True):
        for ordinal, value in values.items():
            if old.offset <= ordinal < old.stop and (place := new.in_look_up(ordinal - old.offset)) is not None:
                moved[place] = value
    return moved
