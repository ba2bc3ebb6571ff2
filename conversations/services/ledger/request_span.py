"""What a span says of a request to a provider: model, tokens and address, from its settled row of the ledger."""

from __future__ import annotations

import time
from urllib.parse import urlsplit

from conversations import tracing
from conversations.core.money.usage import Usage
from conversations.models import Completion
from conversations.models.completion import Purpose
from conversations.providers.catalog.embedding_models import embedding_base_url
from conversations.providers.catalog.language_models import language_models
from conversations.providers.demo import DEMO_LANGUAGE_MODELS

# The format that is spoken; who answers is told by `server.address`.
OPENAI_FORMAT = "openai"
FINISH_REASONS = {"stop", "length", "tool_calls", "content_filter", "stopped"}  # others are a provider's own words
LONGEST_NAME_CHARACTERS = 200
DEFAULT_PORTS = {"http": 80, "https": 443}


def record_request_span(
    completion: Completion,
    usage: Usage,
    *,
    error_code: str,
    finish_reason: str,
    response_model: str,
    duration_seconds: float | None,
) -> None:
    """Record the request of *completion*, which has just been settled, as a span. Without tracing nothing is done."""
    if not tracing.is_tracing():
        return
    is_embedding = completion.purpose == Purpose.EMBEDDING
    is_demo = any(demo.name == completion.language_model for demo in DEMO_LANGUAGE_MODELS)
    address, port = (None, None) if is_demo else _address(completion.language_model, is_embedding=is_embedding)
    ended_at = time.time()
    began_at = completion.created_at.timestamp() if duration_seconds is None else ended_at - duration_seconds
    tracing.record_request(
        operation="embeddings" if is_embedding else "chat",
        language_model=completion.language_model,
        began_at=began_at,
        ended_at=ended_at,
        error_code=error_code,
        attributes={
            "gen_ai.provider.name": tracing.AGENT if is_demo else OPENAI_FORMAT,
            "gen_ai.conversation.id": _conversation_id(completion),
            "gen_ai.usage.input_tokens": usage.input_tokens,
            "gen_ai.usage.cache_read.input_tokens": usage.cached_input_tokens,
            "gen_ai.usage.cache_creation.input_tokens": usage.cache_write_tokens,
            "gen_ai.usage.output_tokens": usage.output_tokens,
            "gen_ai.usage.reasoning.output_tokens": usage.reasoning_tokens,
            "server.address": address,
            "server.port": port,
            "windowseat.completion.id": completion.pk,
            "windowseat.reply.id": completion.reply_id,
            "windowseat.purpose": str(completion.purpose),
            "gen_ai.response.model": response_model[:LONGEST_NAME_CHARACTERS],
            "gen_ai.response.finish_reasons": (finish_reason,) if finish_reason in FINISH_REASONS else None,
            "windowseat.usage_estimated": int(usage.estimated),
        },
    )


def _conversation_id(completion: Completion) -> str | None:
    """Return the public id, if it is in hand: none is read for this."""
    is_here = completion.conversation_id is not None and Completion.conversation.is_cached(completion)
    return str(completion.conversation.public_id) if is_here and completion.conversation else None


def _address(language_model: str, *, is_embedding: bool) -> tuple[str | None, int | None]:
    """Return host and port that the model is asked at; None for one that is configured no longer."""
    found = language_models().get(language_model)
    base_url = embedding_base_url() if is_embedding else found.base_url if found else ""
    parts = urlsplit(base_url)
    return parts.hostname, parts.port or DEFAULT_PORTS.get(parts.scheme)
