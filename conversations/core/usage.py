"""What a request used, and what that costs.

    cost_usd = (input − cached) · input price + cached · cached price + output · output price

Tokens are counted by the provider (*estimated* is false) or by us. Cached tokens are part of the input tokens and
reasoning tokens part of the output tokens, as OpenAI reports them, so each is paid for exactly once. Prices are US
dollars for one million tokens. An unknown price makes an unknown cost, never 0; no tokens cost nothing at any price.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

TOKENS_PER_PRICE = Decimal(1_000_000)
COST_PRECISION = Decimal("0.0000000001")


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request; *cached_input_tokens* ⊆ input, *reasoning_tokens* ⊆ output."""

    input_tokens: int
    output_tokens: int
    cached_input_tokens: int = 0
    reasoning_tokens: int = 0
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class UnitPrices:
    """US dollars for a million tokens. *source* says where they come from, with a date."""

    input_usd: Decimal
    output_usd: Decimal
    cached_input_usd: Decimal | None = None
    source: str = ""

    def cached_or_input_usd(self) -> Decimal:
        """Without a price of their own, cached tokens cost what the others cost."""
        return self.input_usd if self.cached_input_usd is None else self.cached_input_usd


def cost_usd(usage: Usage, prices: UnitPrices | None) -> Decimal | None:
    """Return what *usage* costs, to the 10th decimal, or None where the price is unknown."""
    if not (usage.input_tokens or usage.output_tokens):
        return Decimal(0)
    if prices is None:
        return None
    uncached_tokens = usage.input_tokens - usage.cached_input_tokens
    total = (
        uncached_tokens * prices.input_usd
        + usage.cached_input_tokens * prices.cached_or_input_usd()
        + usage.output_tokens * prices.output_usd
    )
    return (total / TOKENS_PER_PRICE).quantize(COST_PRECISION)
