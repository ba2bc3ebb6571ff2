"""`/v1/conversations`: begin, read, note metadata on and delete a conversation, and its items.

There is no list of conversations, as OpenAI has none: a program knows those whose ids it was told.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, JsonResponse

from conversations.core.api.conversation_request import read_appended_items, read_metadata, read_new_conversation
from conversations.core.api.item_ids import conversation_id as id_of
from conversations.models import ApiKey, ApiScope, Conversation
from conversations.services.api.api_conversations import (
    append_items,
    begin_conversation,
    find_api_conversation,
    find_item,
    list_items,
    note_metadata,
)
from conversations.services.conversations.deletion import delete_conversation

from .api_view import api_view, by_method, read_query
from .item_pages import QUERY as ITEMS_QUERY
from .item_pages import item_of, page_of, read_wanted_items
from .turns import in_turn


@api_view("POST", ApiScope.CHAT)
async def conversations(request: HttpRequest, *, key: ApiKey) -> JsonResponse:
    return JsonResponse(await in_turn(key, lambda: _begin(key, request.body)))


def _begin(key: ApiKey, body: bytes) -> dict[str, Any]:
    return _about(begin_conversation(key, *read_new_conversation(body)))


@api_view("GET", ApiScope.CHAT, ApiScope.READ)
async def _read(request: HttpRequest, *, key: ApiKey, conversation_id: str) -> JsonResponse:
    return JsonResponse(_about(await in_turn(key, find_api_conversation, key, conversation_id)))


@api_view("POST", ApiScope.MANAGE)
async def _update(request: HttpRequest, *, key: ApiKey, conversation_id: str) -> JsonResponse:
    return JsonResponse(await in_turn(key, lambda: _note(key, conversation_id, request.body)))


def _note(key: ApiKey, conversation_id: str, body: bytes) -> dict[str, Any]:
    conversation = find_api_conversation(key, conversation_id)
    note_metadata(conversation, read_metadata(body))
    return _about(conversation)


@api_view("DELETE", ApiScope.MANAGE)
async def _delete(request: HttpRequest, *, key: ApiKey, conversation_id: str) -> JsonResponse:
    """Delete it as the page does: its owner can bring it back there for 30 days."""
    await in_turn(key, lambda: delete_conversation(find_api_conversation(key, conversation_id)))
    return JsonResponse({"id": conversation_id, "object": "conversation.deleted", "deleted": True})


conversation = by_method(GET=_read, POST=_update, DELETE=_delete)


@api_view("GET", ApiScope.CHAT, ApiScope.READ)
async def _list(request: HttpRequest, *, key: ApiKey, conversation_id: str) -> JsonResponse:
    return await in_turn(key, _listed, key, conversation_id, read_query(request, *ITEMS_QUERY))


def _listed(key: ApiKey, conversation_id: str, query: Mapping[str, str]) -> JsonResponse:
    """Return a page of items, as it is sent: much text would take the event loop a moment to write."""
    wanted = read_wanted_items(query)
    return JsonResponse(page_of(*list_items(find_api_conversation(key, conversation_id), wanted)))


@api_view("POST", ApiScope.CHAT)
async def _append(request: HttpRequest, *, key: ApiKey, conversation_id: str) -> JsonResponse:
    return await in_turn(key, lambda: _appended(key, conversation_id, request.body))


def _appended(key: ApiKey, conversation_id: str, body: bytes) -> JsonResponse:
    found = find_api_conversation(key, conversation_id)
    return JsonResponse(page_of(append_items(key, found, read_appended_items(body)), has_more=False))


items = by_method(GET=_list, POST=_append)


@api_view("GET", ApiScope.CHAT, ApiScope.READ)
async def item(request: HttpRequest, *, key: ApiKey, conversation_id: str, item_id: str) -> JsonResponse:
    found = await in_turn(key, lambda: find_item(find_api_conversation(key, conversation_id), item_id))
    return JsonResponse(item_of(found))


def _about(conversation: Conversation) -> dict[str, Any]:
    return {
        "id": id_of(conversation.public_id),
        "object": "conversation",
        "created_at": int(conversation.created_at.timestamp()),
        "metadata": conversation.metadata,
    }
