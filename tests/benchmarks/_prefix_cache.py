"""OpenAI's prefix cache: what of a prompt is billed at the cached price.

    common = tokens of the messages that this prompt and the one before it begin with
    cached = common rounded down to whole increments, and nothing below the minimum

Of the first message that differs nothing counts, though its first tokens may be the same: the real cache is no worse.
That the prompt before is still cached is assumed, for every policy alike.

"Caching is available for prompts containing 1024 tokens or more, with cache hits occurring in increments of 128
tokens": https://developers.openai.com/api/docs/guides/prompt-caching, checked 2026-11-21. What cached input costs
differs from model to model: 50 % of the price with gpt-4o, 25 % with gpt-4.1, 10 % with gpt-5 and newer. Since GPT-5.6
what is written to the cache is billed too, at 125 %.
"""

from __future__ import annotations

from dataclasses import dataclass

from conversations.core.window.compute_window import Window

MINIMUM_TOKENS = 1_024
INCREMENT_TOKENS = 128


@dataclass(frozen=True, slots=True)
class InputPrice:
    """Prices as shares of the price of plain input: of what is read from the cache, and of all the rest."""

    cached: float
    other: float = 1.0

    def cost(self, tokens: int, cached_tokens: int) -> float:
        """Return the cost in tokens at the full price."""
        return self.cached * cached_tokens + self.other * (tokens - cached_tokens)


# 125 % for all that was not read is the most that the writes of newer models can cost.
INPUT_PRICES = {
    "10": InputPrice(0.10),
    "25": InputPrice(0.25),
    "50": InputPrice(0.50),
    "writes": InputPrice(0.10, 1.25),
}


def cached_tokens(window: Window, previous: Window | None) -> int:
    """Return how many tokens of the window's prompt are read from the cache after *previous* of the conversation."""
    common = common_tokens(window, previous) if previous else 0
    return common - common % INCREMENT_TOKENS if common >= MINIMUM_TOKENS else 0


def common_tokens(window: Window, previous: Window) -> int:
    common = 0
    for entry, message, before in zip(window.record.entries, window.prompt, previous.prompt, strict=False):
        if message != before:
            break
        common += entry.tokens
    return common
