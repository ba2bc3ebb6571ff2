"""Search titles: a user's conversations that have the words in their titles."""

from __future__ import annotations

import datetime as dt

from conversations.core.text.search_query import SearchQuery
from conversations.grounding.bounded_query import time_limit

from .found_text import mark_parts
from .hits import HitConversation, TitleHit
from .rows import fetch_rows
from .search_filters import ORDER, OWN, filter_parameters

TITLES = f"""
SELECT id, public_id, title, archived, starred, last_active_at FROM conversations_conversation conversation
WHERE {OWN} AND conversation.head_id IS NOT NULL AND NOT EXISTS (
  SELECT FROM unnest(%(words)s::text[]) AS word WHERE strpos(lower(conversation.title), word) = 0
) ORDER BY {ORDER} LIMIT %(most)s
"""  # noqa: S608  # constants of ours


def search_titles(owner: int, query: SearchQuery, *, zone: dt.tzinfo, most: int) -> list[TitleHit]:
    """Return the conversations that have all words and phrases of *query* in their titles."""
    if not (query.has_words or query.filters_conversations) or query.filters_messages:
        return []
    words = [each.lower() for each in (*query.words, *query.phrases)]
    with time_limit(plans_by_parameters=True):
        rows = fetch_rows(TITLES, {**filter_parameters(owner, query, zone), "words": words, "most": most})
    return [TitleHit(HitConversation(*row[:5]), mark_parts(row[2], words), row[5]) for row in rows]
