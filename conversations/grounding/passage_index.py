"""The full-text index of passages: insert them in batches, one SQL statement each.

Django's expressions took two thirds of the time, and while a document is indexed others wait for their replies in the
same process.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from django.db import connection

from .lexemes import normalize_words

# The lexemes of the heading have weight A.
INSERT = """
INSERT INTO conversations_passage (document_id, number, heading, text, tokens, search)
SELECT %(document)s, number, heading, text, tokens,
       setweight(to_tsvector(%(language)s::regconfig, heading_words), 'A')
       || setweight(to_tsvector(%(language)s::regconfig, words), 'D')
FROM unnest(%(numbers)s::int[], %(headings)s::text[], %(texts)s::text[], %(tokens)s::int[],
            %(heading_words)s::text[], %(words)s::text[])
  AS fresh (number, heading, text, tokens, heading_words, words)
"""


class NewPassage(Protocol):
    """A passage before it is stored."""

    @property
    def heading(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def tokens(self) -> int: ...


def insert_passages(
    document_id: int, passages: Sequence[NewPassage], *, search_language: str, first_number: int = 0
) -> None:
    """Store *passages* of a document, numbered from *first_number*, as the words of *search_language*."""
    columns: dict[str, list[int] | list[str]] = {
        "numbers": list(range(first_number, first_number + len(passages))),
        "headings": [passage.heading for passage in passages],
        "texts": [passage.text for passage in passages],
        "tokens": [passage.tokens for passage in passages],
        "heading_words": [normalize_words(passage.heading) for passage in passages],
        "words": [normalize_words(passage.text) for passage in passages],
    }
    with connection.cursor() as cursor:
        cursor.execute(INSERT, {"document": document_id, "language": search_language, **columns})
