"""The tokens that a request used, as its provider reported them, or estimated by us. Prices are in `unit_prices`.

Tokens read from the cache and written to it are part of the input tokens and reasoning tokens part of the output
tokens, as OpenAI reports them, so each is paid for exactly once.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request; cached and written are apart from each other and ⊆ input, *reasoning_tokens* ⊆ output.

    *cached_input_tokens* is None where the provider does not report them: that nothing was cached is a report, 0.
    *reported_cost_usd* is what the provider says that the request costs, in US dollars; most do not say.
    """

    input_tokens: int
    output_tokens: int
    cached_input_tokens: int | None = None
    reasoning_tokens: int = 0
    estimated: bool = False
    cache_write_tokens: int = 0
    reported_cost_usd: Decimal | None = None

    @property
    def known_cached_tokens(self) -> int:
        """The tokens that are paid for as cached ones: none unless they are reported."""
        return self.cached_input_tokens or 0
