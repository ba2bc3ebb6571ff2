"""Look up for a program what its owner's pages look up: recall for a question, and search over own conversations.

A key with a scenario finds only what is in conversations of that scenario, and recalls nothing of other conversations.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from conversations.core.api.lookup_request import RecallRequest, SearchRequest
from conversations.core.recall.recalled_passage import RecalledPassage
from conversations.core.text.search_query import SearchQuery, parse_query
from conversations.models import ApiKey, Conversation
from conversations.selectors.search.hits import MessageHits, TitleHit
from conversations.selectors.search.search_own_messages import search_own_messages
from conversations.selectors.search.search_titles import search_titles
from conversations.services.grounding.recall import recall_for_draft
from conversations.services.language_models.model_context import conversation_context
from conversations.services.windows.build_window import build_window, draft_message

from .key_access import find_conversation_of_key, scenario_of_key


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage of an older message, and the conversation that it is in."""

    conversation: Conversation
    passage: RecalledPassage


@dataclass(frozen=True, slots=True)
class FoundPassages:
    """What recall finds, best first; *error* is the code of why nothing could be looked up."""

    passages: list[FoundPassage]
    has_more: bool
    error: str = ""


@dataclass(frozen=True, slots=True)
class FoundConversations:
    """What a search finds: *titles* and *messages*, and the query as it was read."""

    query: SearchQuery
    titles: list[TitleHit]
    messages: MessageHits


def zone_of(key: ApiKey) -> dt.tzinfo:
    """Return the time zone in which days begin for the key's owner: the one of their pages."""
    return ZoneInfo(key.owner.time_zone) if key.owner.time_zone else dt.UTC


def recall_for_key(key: ApiKey, request: RecallRequest) -> FoundPassages:
    """Find what recall would find if *request* were asked now. Raises `ConversationNotFound`, or a `PromptError`."""
    scenario_of_key(key)
    conversation = find_conversation_of_key(key, request.conversation)
    context, head = conversation_context(conversation), conversation.head
    draft = draft_message(request.question, position=head.position + 1 if head else 0, context=context)
    record = build_window(conversation, draft).record
    if not record.recall.limit_tokens:
        return FoundPassages([], has_more=False)
    found = recall_for_draft(
        conversation,
        request.question,
        before_position=record.first_position,
        limit_tokens=record.recall.limit_tokens,
    )
    others = Conversation.objects.in_bulk({each.conversation for each in found.passages if each.conversation})
    here = [
        FoundPassage(there, each)
        for each in found.passages
        if (there := others.get(each.conversation) if each.conversation else conversation)
    ]
    return FoundPassages(here[: request.limit], len(here) > request.limit, found.error)


def search_for_key(key: ApiKey, request: SearchRequest) -> FoundConversations:
    """Search the owner's conversations as the page does. Raises `LookUpTooCostly`."""
    scenario = scenario_of_key(key)
    query, zone, bound = parse_query(request.query), zone_of(key), scenario.pk if scenario else None
    titles = search_titles(key.owner_id, query, zone=zone, most=request.limit, scenario=bound)
    messages = search_own_messages(key.owner_id, query, zone=zone, most=request.limit, scenario=bound)
    return FoundConversations(query, titles, messages)
