"""Search for a program in its owner's conversations, as the owner's page does.

A key with a scenario finds only what is in conversations of that scenario.
"""

from __future__ import annotations

from dataclasses import dataclass

from chatsite.accounts.preferences.reader_time_zone import stored_time_zone
from conversations.core.api.search_request import SearchRequest
from conversations.core.text.search_query import SearchQuery, parse_query
from conversations.models import ApiKey
from conversations.selectors.search.hits import MessageHits, TitleHit
from conversations.selectors.search.search_own_messages import search_own_messages
from conversations.selectors.search.search_titles import search_titles

from .key_access import scenario_of_key


@dataclass(frozen=True, slots=True)
class FoundConversations:
    """What a search finds: *titles* and *messages*, and the query as it was read."""

    query: SearchQuery
    titles: list[TitleHit]
    messages: MessageHits


def search_for_key(key: ApiKey, request: SearchRequest) -> FoundConversations:
    """Search the owner's conversations as the page does. Raises `LookUpTooCostly`."""
    scenario = scenario_of_key(key)
    query, zone, bound = parse_query(request.query), stored_time_zone(key.owner), scenario.pk if scenario else None
    titles = search_titles(key.owner_id, query, zone=zone, most=request.limit, scenario=bound)
    messages = search_own_messages(key.owner_id, query, zone=zone, most=request.limit, scenario=bound)
    return FoundConversations(query, titles, messages)
