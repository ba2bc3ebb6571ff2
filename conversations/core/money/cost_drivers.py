"""Why a reply was dear: what most of its money was spent on.

    dear = all requests for it together cost at least `DEAR_USD`
    cost of the output = output tokens · output price; what is left of the cost is the input's

Of a dear reply that took several requests, the last of which is less than half of the cost, the requests are the
reason. Else it is the output, if that is at least half of the last request's cost, and otherwise the largest part of
the last prompt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from conversations.core.window.window_record import Part

from .usage import TOKENS_PER_PRICE

DEAR_USD = Decimal("0.01")
DearPart = Literal[Part, "requests", "output"]


@dataclass(frozen=True, slots=True)
class DearRequest:
    """The last request for a reply: its cost, the *parts* of its prompt in tokens, and what came of it."""

    cost_usd: Decimal | None
    parts: Mapping[Part, int]
    output_tokens: int
    output_price_usd: Decimal | None

    @property
    def output_cost_usd(self) -> Decimal:
        return self.output_tokens * (self.output_price_usd or 0) / TOKENS_PER_PRICE


@dataclass(frozen=True, slots=True)
class Dearness:
    """*amount* of *whole* is what most of the money was spent on: tokens, or requests."""

    part: DearPart
    amount: int
    whole: int


def is_dear(cost_usd: Decimal | None) -> bool:
    return cost_usd is not None and cost_usd >= DEAR_USD


def why_dear(cost_usd: Decimal, requests: int, last: DearRequest) -> Dearness:
    """Return why a reply that *cost_usd* is dear; *last* is the last of its *requests*."""
    last_usd = last.cost_usd or Decimal(0)
    if requests > 1 and 2 * last_usd < cost_usd:
        return Dearness("requests", requests, requests)
    if not last.parts or 2 * last.output_cost_usd >= last_usd:
        return Dearness("output", last.output_tokens, last.output_tokens)
    part = max(last.parts, key=lambda name: last.parts[name])
    return Dearness(part, last.parts[part], sum(last.parts.values()))
