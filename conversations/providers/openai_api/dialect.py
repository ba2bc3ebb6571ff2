"""What a server understands of OpenAI's format beyond what all of them do, as values; the defaults suit an unknown one.

Which server has which dialect is data: `providers/catalog/known_dialects.py`. A `DialectWord` is an option of
LANGUAGE_MODELS that corrects one field of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from conversations.core.prompt.prompt_format import PLAIN_FORMAT, PromptFormat

from .think_tags import ThinkTagsUse

Effort = Literal["", "reasoning_effort", "reasoning"]
DialectWord = Literal[
    "wire",
    "cache_breakpoints",
    "sent_back",
    "output_limit_field",
    "cache_key",
    "stream_options",
    "effort_field",
    "think_tags",
    "request_mb",
]
# Fields of an answer in which reasoning may be demanded back within a tool loop.
MESSAGE_REASONING_FIELDS: Final = ("reasoning_content", "reasoning_details", "thinking_blocks")
CALL_REASONING_FIELDS: Final = ("extra_content", "provider_specific_fields")
# All of these are sent back to the server that sent them; `reasoning_content` only where it is known to be wanted,
# since others refuse it or put it into the prompt.
ALWAYS_SENT_BACK: Final = frozenset({"reasoning_details", "thinking_blocks", *CALL_REASONING_FIELDS})


@dataclass(frozen=True, slots=True)
class Dialect:
    """What one server’s API expects and sends, where servers differ.

    *output_limit_field* bounds the reply. `max_tokens` is what Ollama, vLLM, llama.cpp and the hosted providers all
    understand; OpenAI's own newer models refuse it and want `max_completion_tokens`, which Ollama ignores silently and
    Mistral answers with 422. *prompt_format* is the API and the marks of cache breakpoints. *sent_back* are the fields
    of reasoning that go back within a tool loop. *effort* is the field that says how hard to think; the Responses API
    has one of its own for that, so there it tells only whether it is sent. *think_tags* says whether thoughts may come
    as tags in the content. *largest_request_mb* is what a request may have in megabytes, its pictures encoded: OpenAI's
    limit, which also bounds the memory that a request to any other server takes.
    """

    prompt_format: PromptFormat = PLAIN_FORMAT
    output_limit_field: str = "max_tokens"
    takes_cache_key: bool = False
    takes_stream_options: bool = True
    sent_back: frozenset[str] = ALWAYS_SENT_BACK
    effort: Effort = "reasoning_effort"
    think_tags: ThinkTagsUse = "yes"
    largest_request_mb: int = 50

    @property
    def most_picture_bytes(self) -> int:
        """What the encoded pictures of a request may take: an eighth is left for its texts."""
        return self.largest_request_mb * 1_000_000 * 7 // 8


PLAIN_DIALECT: Final = Dialect()
