"""The tokens that a request used, as its provider reported them, or estimated by us. Prices are in `unit_prices`.

Tokens read from the cache and written to it are part of the input tokens and reasoning tokens part of the output
tokens, as OpenAI reports them, so each is paid for exactly once.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request; cached and written are apart from each other and ⊆ input, *reasoning_tokens* ⊆ output."""

    input_tokens: int
    output_tokens: int
    cached_input_tokens: int = 0
    reasoning_tokens: int = 0
    estimated: bool = False
    cache_write_tokens: int = 0
