"""What is asked of a provider, and the JSON in which it is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conversations.core.prompt.messages import Prompt

from .dialects import dialect_of


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """One request. *sampling* holds fields such as temperature, *tools* OpenAI's tool schemas.

    If it may not call any more, it still gets them: providers want to know the tools that a prompt has calls of.
    """

    language_model: str
    prompt: Prompt
    max_output_tokens: int | None = None
    sampling: Mapping[str, Any] = field(default_factory=dict)
    tools: Sequence[Mapping[str, Any]] = ()
    may_call: bool = True
    cache_key: str | None = None

    def to_wire(self, *, base_url: str) -> dict[str, Any]:
        """Return the JSON body, in the dialect of the server at *base_url*. Sampling overrides nothing else."""
        dialect = dialect_of(base_url)
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
