"""`POST /v1/windowseat/recall`: which older messages recall would find for a question in a conversation.

It is asked by POST: words of people stand in no address, which servers write into their logs.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, JsonResponse

from conversations.core.api.item_ids import StoredId, conversation_id
from conversations.core.api.recall_request import read_recall_request
from conversations.core.errors import PromptError
from conversations.models import ApiKey, ApiScope
from conversations.services.api.recall_for_key import FoundPassage, recall_for_key

from .api_view import api_view
from .turns import in_turn


@api_view("POST", ApiScope.READ)
async def recall(request: HttpRequest, *, key: ApiKey) -> JsonResponse:
    """Tell which older messages recall would find for a question in a conversation."""
    return JsonResponse(await in_turn(key, lambda: _recall(key, request.body)))


def _recall(key: ApiKey, body: bytes) -> dict[str, Any]:
    try:
        found = recall_for_key(key, read_recall_request(body))
    except PromptError as error:
        error.parameter = "question"
        raise
    return {
        "object": "windowseat.recall",
        "data": [_passage(each) for each in found.passages],
        "has_more": found.has_more,
        "error": found.error or None,
    }


def _passage(found: FoundPassage) -> dict[str, Any]:
    passage, public_id = found.passage, found.conversation.public_id
    return {
        "conversation": conversation_id(public_id),
        "message": f"msg_{StoredId(public_id, passage.message).suffix}",
        "role": passage.role,
        "created_at": int(passage.at.timestamp()),
        "text": passage.text,
        "is_whole": passage.is_whole,
        "tokens": passage.tokens,
        "score": passage.score,
        "why": list(passage.why),
    }
