"""`GET /v1/windowseat/windows/ID`: the record of the window of one request, and what it used."""

from __future__ import annotations

import uuid
from typing import Any

from django.http import HttpRequest, JsonResponse

from conversations.core.errors import WindowNotFound
from conversations.models import ApiKey, ApiScope, Completion

from .answers import answers_api, in_database

TOLD = (
    *("language_model", "input_tokens", "cached_input_tokens", "output_tokens", "reasoning_tokens"),
    *("usage_estimated", "cost_usd", "finish_reason", "error_code"),
)


@answers_api("GET", ApiScope.READ)
async def window(request: HttpRequest, *, key: ApiKey, window_id: uuid.UUID) -> JsonResponse:
    return JsonResponse(await in_database(_window, key, window_id))


def _window(key: ApiKey, window_id: uuid.UUID) -> dict[str, Any]:
    """Return the record of a request that this very key asked for. Raises `WindowNotFound`."""
    found = Completion.objects.filter(api_key=key, opening_key=window_id, window__isnull=False).first()
    if found is None:
        raise WindowNotFound
    cost = found.cost_usd
    told = {name: getattr(found, name) for name in TOLD} | {"cost_usd": None if cost is None else str(cost)}
    return {"id": str(window_id), "object": "windowseat.window", **told, "window": found.window}
