"""Meaning: the indexed passages whose vectors are nearest to a question's, by cosine similarity.

Exactly, by reading the vectors of the conversation; of a very large one, the newest of them and those of candidates
that its words have found. Vectors of another model or length are ignored. All have length 1, so their inner product is
the cosine, which would take longer.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db import connection

from .candidate_rows import FIRST_KEPT
from .indexed_passages import IndexedPart, IndexedPassages

MOST_NEAREST = 100  # of all conversations together
MOST_READ = 50_000  # passages

SIMILARITY = """
SELECT ordinal, CASE WHEN vector_dims(embedding) = %(dimensions)s
                     THEN -(embedding <#> %(vector)s::halfvec) END AS similarity
FROM conversations_messagevector
WHERE conversation_id = %(conversation)s AND EXISTS (
    SELECT FROM conversations_messageindex WHERE conversation_id = %(conversation)s AND embedding_model = %(model)s
)
"""
# What is forgotten must not take the places of what is not.
NEAREST = f"""
SELECT ordinal, similarity FROM (
  {SIMILARITY} AND ordinal >= %(first)s AND ordinal < %(stop)s AND ordinal >= (
    SELECT {FIRST_KEPT} FROM conversations_conversation conversation WHERE id = %(conversation)s
  ) OFFSET 0
) AS read
WHERE similarity >= %(floor)s AND similarity <> 'NaN' ORDER BY similarity DESC, ordinal DESC LIMIT %(most)s
"""  # noqa: S608  # no value is put into it
OF_PASSAGES = f"""
SELECT ordinal, similarity FROM ({SIMILARITY} AND ordinal = ANY(%(ordinals)s) OFFSET 0) AS read
WHERE similarity >= %(floor)s AND similarity <> 'NaN'
"""  # noqa: S608  # no value is put into it


@dataclass(frozen=True, slots=True)
class QuestionVector:
    """The *vector* of a question, made by *model*; below the similarity *floor* nothing means the same."""

    vector: Sequence[float]
    model: str
    floor: float


@dataclass(frozen=True, slots=True)
class Nearness:
    """The *similarities* of passages with a question, by their ordinals; *nearest* are the ordinals of the nearest.

    From *lowest*, that of the last of the nearest, or the floor where they are few, to the *largest*.
    """

    similarities: dict[int, float]
    nearest: tuple[int, ...] = ()
    lowest: float = 0.0
    largest: float = 0.0

    def value(self, ordinals: Iterable[int]) -> float:
        """Return 1 if the nearest passage of all is among *ordinals*, falling with the similarity, down to 0."""
        width = self.largest - self.lowest
        best = max((self.similarities.get(ordinal, self.lowest) for ordinal in ordinals), default=self.lowest)
        return max(0.0, (best - self.lowest) / width) if width > 0 else 0.0


NOTHING_NEAR = Nearness({})


def nearest_passages(index: IndexedPassages, asked: QuestionVector, *, passages: int) -> Nearness:
    """Return the nearest among the first *passages*: of a conversation with very many, among the newest of these."""
    of_all: dict[int, float] = {}
    for part, inside in index.first(passages):
        span = {"first": max(0, inside - MOST_READ), "stop": inside, "most": MOST_NEAREST}
        of_all |= _fetch(NEAREST, part, asked, span)
    found = dict(sorted(of_all.items(), key=lambda each: (-each[1], -each[0]))[:MOST_NEAREST])
    if not found:
        return NOTHING_NEAR
    lowest = min(found.values()) if len(found) == MOST_NEAREST else asked.floor
    return Nearness(found, tuple(found), lowest, max(found.values()))


def with_passages(
    nearness: Nearness, index: IndexedPassages, asked: QuestionVector, ordinals: Collection[int]
) -> Nearness:
    """Return *nearness* with the similarities of these passages, too."""
    missing = [ordinal for ordinal in ordinals if ordinal not in nearness.similarities]
    if not nearness.nearest or not missing:
        return nearness
    found: dict[int, float] = {}
    for part, inside in index.split(missing):
        found |= _fetch(OF_PASSAGES, part, asked, {"ordinals": inside})
    return replace(nearness, similarities=nearness.similarities | found)


def normalize_vector(vector: Sequence[float]) -> list[float]:
    """Return *vector*, which is not zero, with length 1: half precision has no room for large numbers."""
    largest = max(map(abs, vector))
    scaled = [number / largest for number in vector]
    length = math.hypot(*scaled)
    return [round(number / length, 6) for number in scaled]


def _fetch(statement: str, part: IndexedPart, asked: QuestionVector, parameters: Mapping[str, Any]) -> dict[int, float]:
    vector: dict[str, Any] = {
        "vector": str(normalize_vector(asked.vector)),
        "dimensions": len(asked.vector),
        "model": asked.model,
        "floor": asked.floor,
    }
    with connection.cursor() as cursor:
        cursor.execute(statement, {"conversation": part.conversation_id, **vector, **parameters})
        found = ((part.in_look_up(ordinal), similarity) for ordinal, similarity in cursor.fetchall())
        return {ordinal: similarity for ordinal, similarity in found if ordinal is not None}
