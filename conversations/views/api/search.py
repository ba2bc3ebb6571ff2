"""`POST /v1/windowseat/search`: search in the owner's conversations, as the page does.

It is asked by POST: words of people stand in no address, which servers write into their logs.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, JsonResponse

from conversations.core.api.item_ids import StoredId, conversation_id
from conversations.core.api.search_request import read_search_request
from conversations.models import ApiKey, ApiScope
from conversations.selectors.search.hits import MessageHit, TitleHit
from conversations.services.api.search_for_key import search_for_key

from .api_view import api_view
from .turns import in_turn


@api_view("POST", ApiScope.READ)
async def search(request: HttpRequest, *, key: ApiKey) -> JsonResponse:
    """Search the owner's conversations, as the page does."""
    return JsonResponse(await in_turn(key, lambda: _search(key, request.body)))


def _search(key: ApiKey, body: bytes) -> dict[str, Any]:
    found = search_for_key(key, read_search_request(body))
    return {
        "object": "windowseat.search",
        "titles": [_title(each) for each in found.titles],
        "messages": [_message(each) for each in found.messages.hits],
        "has_more": found.messages.has_more,
        "is_partial": found.messages.is_partial,
        "have_typos": found.messages.have_typos,
        "problems": [{"kind": kind.value, "part": part} for kind, part in found.query.problems],
    }


def _title(hit: TitleHit) -> dict[str, Any]:
    return {
        "conversation": conversation_id(hit.conversation.public_id),
        "title": hit.conversation.title,
        "last_active_at": int(hit.last_active_at.timestamp()),
    }


def _message(hit: MessageHit) -> dict[str, Any]:
    public_id = hit.conversation.public_id
    return {
        "conversation": conversation_id(public_id),
        "title": hit.conversation.title,
        "message": f"msg_{StoredId(public_id, hit.message).suffix}",
        "role": hit.role,
        "created_at": int(hit.at.timestamp()),
        "excerpt": [{"text": piece.text, "is_found": piece.is_found} for piece in hit.excerpt],
    }
