"""`/v1/windowseat/windows`: records of windows, of requests and responses, and of a request before it is sent."""

from __future__ import annotations

import uuid
from typing import Any

from django.http import HttpRequest, JsonResponse

from conversations.core.api.chat_request import CONVERSATION_HEADER, read_chat_request
from conversations.core.money.amounts import write_amount
from conversations.models import ApiKey, ApiScope, Completion
from conversations.services.api.preview_window import preview_window
from conversations.services.api.stored_windows import find_window_of_key, windows_of_response
from conversations.views.http.api_errors import error_body

from .api_view import api_view
from .turns import in_turn

TOLD = (
    *("language_model", "input_tokens", "cached_input_tokens", "output_tokens", "reasoning_tokens"),
    *("usage_estimated", "cost_usd", "finish_reason", "error_code"),
)


@api_view("GET", ApiScope.READ)
async def window(request: HttpRequest, *, key: ApiKey, window_id: uuid.UUID) -> JsonResponse:
    return JsonResponse(await in_turn(key, _window, key, window_id))


def _window(key: ApiKey, window_id: uuid.UUID) -> dict[str, Any]:
    return _record_of(find_window_of_key(key, window_id))


def _record_of(completion: Completion) -> dict[str, Any]:
    told = {name: getattr(completion, name) for name in TOLD} | {"cost_usd": write_amount(completion.cost_usd)}
    return {"id": str(completion.opening_key), "object": "windowseat.window", **told, "window": completion.window}


@api_view("GET", ApiScope.READ)
async def of_response(request: HttpRequest, *, key: ApiKey, response_id: str) -> JsonResponse:
    """Tell the records of all requests for a stored response, in their order: its steps, and what was sent again."""
    return JsonResponse(await in_turn(key, _of_response, key, response_id))


def _of_response(key: ApiKey, response_id: str) -> dict[str, Any]:
    return {"object": "list", "data": [_record_of(each) for each in windows_of_response(key, response_id)]}


@api_view("POST", ApiScope.READ)
async def preview(request: HttpRequest, *, key: ApiKey) -> JsonResponse:
    """Tell the window that a chat completion would be sent in, and what it would cost at most. Nothing is sent."""
    named = request.headers.get(CONVERSATION_HEADER)
    return JsonResponse(await in_turn(key, lambda: _preview(key, request.body, named)))


def _preview(key: ApiKey, body: bytes, conversation: str | None) -> dict[str, Any]:
    found = preview_window(key, read_chat_request(body, conversation))
    return {
        "object": "windowseat.preview",
        "language_model": found.record.language_model,
        "input_tokens": found.record.prompt_tokens,
        "most_output_tokens": found.record.reply_reserve_tokens,
        "most_cost_usd": write_amount(found.worst_usd),
        "error": error_body(found.error)["error"] if found.error else None,
        "window": found.record.to_json(),
    }
