"""Lexemes of texts with their counts, made by PostgreSQL as those of documents are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from django.db import connection

from conversations.grounding.lexemes import normalize_words

LEXEMES = """
SELECT to_tsvector(%(language)s::regconfig, words)::text
FROM unnest(%(texts)s::text[]) WITH ORDINALITY AS texts (words, place) ORDER BY place
"""
# What PostgreSQL writes: 'train':2,7 'ten':5. Lexemes have no quotes, because normalized words have none.
ENTRY = re.compile(r"'([^']+)':([0-9,]+)")


class LexemeCounts(NamedTuple):
    """How often each lexeme is in a text, and the *tsvector* with their places, as PostgreSQL writes it."""

    counts: dict[str, int]
    tsvector: str

    @property
    def words(self) -> int:
        """How many words of the text have a lexeme."""
        return sum(self.counts.values())


def count_lexemes(texts: Sequence[str], *, search_language: str) -> list[LexemeCounts]:
    """Return the lexemes of each of *texts*, in one statement."""
    if not texts:
        return []
    with connection.cursor() as cursor:
        cursor.execute(LEXEMES, {"language": search_language, "texts": [normalize_words(text) for text in texts]})
        return [LexemeCounts(read_counts(tsvector), tsvector) for (tsvector,) in cursor.fetchall()]


def read_counts(tsvector: str) -> dict[str, int]:
    """Return how often each lexeme is in a text whose tsvector PostgreSQL has written."""
    return {lexeme: places.count(",") + 1 for lexeme, places in ENTRY.findall(tsvector)}
