"""Filters of a search as conditions of SQL: whose conversations, which of them, and which of their messages."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection
from typing import Any

from conversations.core.text.search_query import SearchQuery

# Needs a row `conversation`.
OWN = """
conversation.owner_id = %(owner)s AND conversation.deleted_at IS NULL
AND (conversation.temporary_until IS NULL OR conversation.id = %(conversation)s)
AND (%(conversation)s::bigint IS NULL OR conversation.id = %(conversation)s)
AND (%(scenario)s::bigint IS NULL OR conversation.scenario_id = %(scenario)s)
AND (%(besides)s::bigint IS NULL OR conversation.id <> %(besides)s)
AND (NOT %(is_starred)s OR conversation.starred) AND (NOT %(is_archived)s OR conversation.archived)
AND (NOT %(has_document)s OR EXISTS (
  SELECT FROM conversations_document document WHERE document.conversation_id = conversation.id))
AND NOT EXISTS (
  SELECT FROM unnest(%(places)s::text[]) AS place WHERE strpos(lower(conversation.title), place) = 0
  AND NOT EXISTS (SELECT FROM conversations_scenario scenario
    WHERE scenario.id = conversation.scenario_id AND strpos(lower(scenario.name), place) > 0))
"""
ORDER = "conversation.archived, conversation.last_active_at DESC, conversation.id DESC"
# Needs a row `message`, and holds for one that is on the path now.
WANTED = """
message.active AND message.step_of_id IS NULL AND message.role IN ('user', 'assistant') AND message.state <> 'streaming'
AND (%(role)s = '' OR message.role = %(role)s) AND (NOT %(has_picture)s OR message.picture_ids <> '{}')
AND (%(after)s::timestamptz IS NULL OR message.created_at >= %(after)s)
AND (%(before)s::timestamptz IS NULL OR message.created_at < %(before)s)
AND message.id <> ALL(%(shown)s::bigint[])
"""


def filter_parameters(
    owner: int,
    query: SearchQuery,
    zone: dt.tzinfo,
    *,
    conversation: int | None = None,
    besides: int | None = None,
    scenario: int | None = None,
    shown: Collection[int] = (),
) -> dict[str, Any]:
    """Return the parameters of the conditions; *shown* are messages that are left out."""
    return {
        "owner": owner,
        "conversation": conversation,
        "besides": besides,
        "scenario": scenario,
        "is_starred": query.is_starred,
        "is_archived": query.is_archived,
        "has_document": query.has_document,
        "has_picture": query.has_picture,
        "places": [place.lower() for place in query.places],
        "role": query.role,
        "before": _begin_of(query.before, zone),
        "after": _begin_of(query.after, zone),
        "shown": list(shown),
    }


def _begin_of(day: dt.date | None, zone: dt.tzinfo) -> dt.datetime | None:
    return dt.datetime.combine(day, dt.time.min, tzinfo=zone) if day else None
