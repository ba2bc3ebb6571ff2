"""Search titles: a user's conversations that have the words in their titles."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from itertools import islice
from typing import Any

from conversations.core.text.search_query import SearchQuery
from conversations.core.text.similar_words import SimilarWords
from conversations.grounding.bounded_query import time_limit

from .fetch_rows import fetch_rows
from .found_text import mark_parts
from .hits import HitConversation, TitleHit
from .search_filters import ORDER, OWN, filter_parameters

MOST_COMPARED = 5_000  # titles, with words that may have a typo

TITLES = f"""
SELECT id, public_id, title, archived, starred, last_active_at FROM conversations_conversation conversation
WHERE {OWN} AND conversation.head_id IS NOT NULL AND NOT EXISTS (
  SELECT FROM unnest(%(words)s::text[]) AS word WHERE strpos(lower(conversation.title), word) = 0
) ORDER BY {ORDER} LIMIT %(most)s
"""  # noqa: S608  # constants of ours


def search_titles(
    owner: int, query: SearchQuery, *, zone: dt.tzinfo, most: int, scenario: int | None = None
) -> list[TitleHit]:
    """Return the conversations that have all words and phrases in their titles, of a *scenario* or of all."""
    if not (query.has_words or query.filters_conversations) or query.filters_messages:
        return []
    words = _words(query)
    rows = _fetch_titles(owner, query, zone, words=words, most=most, scenario=scenario)
    return [_title_hit(row, words) for row in rows]


def search_similar_titles(owner: int, query: SearchQuery, *, zone: dt.tzinfo, most: int) -> list[TitleHit]:
    """Return those that have the words with one letter wrong, among the newest: for where nothing else is found."""
    if not query.has_words or query.filters_messages:
        return []
    similar = SimilarWords(_words(query))
    rows = _fetch_titles(owner, query, zone, words=[], most=MOST_COMPARED)
    hits = (_title_hit(row, pieces) for row in rows if (pieces := similar.find_all(row[2])))
    return list(islice(hits, most))


def _words(query: SearchQuery) -> list[str]:
    return [each.lower() for each in (*query.words, *query.phrases)]


def _fetch_titles(
    owner: int, query: SearchQuery, zone: dt.tzinfo, *, words: list[str], most: int, scenario: int | None = None
) -> list[tuple[Any, ...]]:
    with time_limit(plans_by_parameters=True):
        filters = filter_parameters(owner, query, zone, scenario=scenario)
        return fetch_rows(TITLES, {**filters, "words": words, "most": most})


def _title_hit(row: tuple[Any, ...], parts: Iterable[str]) -> TitleHit:
    return TitleHit(HitConversation(*row[:5]), mark_parts(row[2], parts), row[5])
