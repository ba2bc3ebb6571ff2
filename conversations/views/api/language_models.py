"""`GET /v1/models`: the language models that the key may use."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, JsonResponse

from conversations.models import ApiKey, ApiScope
from conversations.providers.catalog.language_models import ConfiguredModel
from conversations.services.api.key_access import find_model_of_key, models_of_key

from .api_view import api_view
from .turns import in_turn

SINCE = 0  # when a model was made is not known here


@api_view("GET", *ApiScope)
async def language_models(request: HttpRequest, *, key: ApiKey) -> JsonResponse:
    models = await in_turn(key, models_of_key, key)
    return JsonResponse({"object": "list", "data": [_about(configured) for configured in models]})


@api_view("GET", *ApiScope)
async def language_model(request: HttpRequest, *, key: ApiKey, name: str) -> JsonResponse:
    """Tell of one of them. Raises `LanguageModelNotOffered`."""
    return JsonResponse(_about(await in_turn(key, find_model_of_key, key, name)))


def _about(configured: ConfiguredModel) -> dict[str, Any]:
    model = configured.language_model
    return {
        "id": configured.name,
        "object": "model",
        "created": SINCE,
        "owned_by": "windowseat",
        "context_window": model.context_window_tokens,
        "max_output_tokens": model.reply_reserve_tokens,
    }
