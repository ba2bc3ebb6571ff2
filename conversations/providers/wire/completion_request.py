"""The request for a completion, and its JSON in the dialect of the server that it goes to.

`max_tokens` is what Ollama, vLLM, llama.cpp and the hosted providers all understand. OpenAI's own newer models refuse
it and want `max_completion_tokens`, which Ollama ignores silently and Mistral answers with 422. Checked 2026-11-21:
https://platform.openai.com/docs/api-reference/chat/create https://github.com/ollama/ollama/issues/7125
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from conversations.core.prompt.messages import Prompt
from conversations.core.prompt.pictures import fill_in_pictures

WITH_PICTURES = frozenset({"messages", "input"})
OPENAI_BASE_URL = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class Dialect:
    """The fields that a server accepts beyond those that all of them know. The defaults suit an unknown server."""

    output_limit_field: str = "max_tokens"
    takes_cache_key: bool = False
    takes_stream_options: bool = True


OPENAI = Dialect(output_limit_field="max_completion_tokens", takes_cache_key=True)
# Mistral refuses stream_options with 422 and reports usage without being asked, checked 2026-11-21:
# https://github.com/openai/openai-agents-python/issues/442
MISTRAL = Dialect(takes_stream_options=False)

_BY_DOMAIN = {"api.openai.com": OPENAI, "openai.azure.com": OPENAI, "mistral.ai": MISTRAL}


def dialect_for(base_url: str) -> Dialect:
    """Return the dialect of the server at *base_url*."""
    host = urlsplit(base_url).hostname or ""
    for domain, dialect in _BY_DOMAIN.items():
        if host == domain or host.endswith(f".{domain}"):
            return dialect
    return Dialect()


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """One request. *sampling* holds fields such as temperature, *tools* OpenAI's tool schemas.

    With *may_call* false the tools are sent all the same: providers want to know those that a prompt has calls of.
    *data_urls* are the pictures of the prompt by their digests: only what leaves has them.
    """

    language_model: str
    prompt: Prompt
    max_output_tokens: int | None = None
    sampling: Mapping[str, Any] = field(default_factory=dict)
    tools: Sequence[Mapping[str, Any]] = ()
    may_call: bool = True
    cache_key: str | None = None
    data_urls: Mapping[str, str] = field(default_factory=dict)

    def to_send(self, *, base_url: str) -> dict[str, Any]:
        """Return the JSON body as it leaves: what `to_wire` returns, with the pictures themselves."""
        body = self.to_wire(base_url=base_url)
        if self.data_urls:
            body |= {name: fill_in_pictures(body[name], self.data_urls) for name in WITH_PICTURES & body.keys()}
        return body

    def to_wire(self, *, base_url: str) -> dict[str, Any]:
        """Return the JSON body, in the dialect of the server at *base_url*. Sampling overrides nothing else.

        Pictures are named by their digests: this is what the ledger keeps.
        """
        dialect = dialect_for(base_url)
        body = dict(self.sampling)
        body |= {"model": self.language_model, "stream": True}
        body["messages"] = [message.to_wire() for message in self.prompt]
        if dialect.takes_stream_options:
            body["stream_options"] = {"include_usage": True}
        if self.max_output_tokens is not None:
            body[dialect.output_limit_field] = self.max_output_tokens
        if self.tools:
            body["tools"] = list(self.tools)
            if not self.may_call:
                body["tool_choice"] = "none"
        if self.cache_key and dialect.takes_cache_key:
            body["prompt_cache_key"] = self.cache_key
        return body
