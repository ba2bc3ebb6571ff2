"""What OpenAI-compatible servers accept beyond the fields that all of them know, by the host of the base URL.

`max_tokens` is what Ollama, vLLM, llama.cpp and the hosted providers all understand. OpenAI's own newer models refuse
it and want `max_completion_tokens`, which Ollama ignores silently and Mistral answers with 422. Checked 2026-11-21:
https://platform.openai.com/docs/api-reference/chat/create https://github.com/ollama/ollama/issues/7125
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

OPENAI_BASE_URL = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class Dialect:
    """How to say what not every server understands. The defaults suit a server that we know nothing about."""

    output_limit_field: str = "max_tokens"
    takes_cache_key: bool = False
    takes_stream_options: bool = True


OPENAI = Dialect(output_limit_field="max_completion_tokens", takes_cache_key=True)
# Mistral refuses stream_options with 422 and reports usage without being asked, checked 2026-11-21:
# https://github.com/openai/openai-agents-python/issues/442
MISTRAL = Dialect(takes_stream_options=False)

_BY_DOMAIN = {"api.openai.com": OPENAI, "openai.azure.com": OPENAI, "mistral.ai": MISTRAL}


def dialect_of(base_url: str) -> Dialect:
    """Return the dialect of the server at *base_url*."""
    host = urlsplit(base_url).hostname or ""
    for domain, dialect in _BY_DOMAIN.items():
        if host == domain or host.endswith(f".{domain}"):
            return dialect
    return Dialect()
