"""Cost drivers: what most of an expensive reply's cost was spent on.

    expensive = all requests for it together cost at least `EXPENSIVE_FROM_USD`
    cost of the output = output tokens · output price; what is left of the cost is the input's

Of an expensive reply that took several requests, the last of which is less than half of the cost, the requests are the
driver. Else it is the output, if that is at least half of the last request's cost, and otherwise the largest part of
the last prompt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from conversations.core.window.window_record import Part

from .unit_prices import TOKENS_PER_PRICE

EXPENSIVE_FROM_USD = Decimal("0.01")
CostPart = Literal[Part, "requests", "output"]


@dataclass(frozen=True, slots=True)
class LastRequest:
    """The last request for a reply: its cost, the *parts* of its prompt in tokens, and its output."""

    cost_usd: Decimal | None
    parts: Mapping[Part, int]
    output_tokens: int
    output_price_usd: Decimal | None

    @property
    def output_cost_usd(self) -> Decimal:
        return self.output_tokens * (self.output_price_usd or 0) / TOKENS_PER_PRICE


@dataclass(frozen=True, slots=True)
class CostDriver:
    """The *part* that cost most: *amount* of *total* tokens, or requests."""

    part: CostPart
    amount: int
    total: int


def is_expensive(cost_usd: Decimal | None) -> bool:
    return cost_usd is not None and cost_usd >= EXPENSIVE_FROM_USD


def main_cost_driver(cost_usd: Decimal, requests: int, last: LastRequest) -> CostDriver:
    """Return what most of *cost_usd*, the cost of a reply, was spent on; *last* is the last of its *requests*."""
    last_usd = last.cost_usd or Decimal(0)
    if requests > 1 and 2 * last_usd < cost_usd:
        return CostDriver("requests", requests, requests)
    if not last.parts or 2 * last.output_cost_usd >= last_usd:
        return CostDriver("output", last.output_tokens, last.output_tokens)
    part = max(last.parts, key=lambda name: last.parts[name])
    return CostDriver(part, last.parts[part], sum(last.parts.values()))
