"""Totals: sums over completions, and the shares and factors that are computed from them.

    cache_share          = cached input ÷ input of the requests that report what was cached
    context_cost_factor  = cost_with_history_usd ÷ cost_without_history_usd
    context_cost_usd     = cost_with_history_usd − cost_without_history_usd
    estimate_error_share = estimate_error_tokens ÷ reported_input_tokens

What can't be divided is None: a share of nothing is unknown, not 0. Only completions that have ended are summed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over some completions; see `LedgerSum` for what each adds up. *cost_usd* has the known costs in it.

    *cached_input_tokens* and *cache_write_tokens* are part of the input, *reasoning_tokens* of the output. *users* is
    how many users they are of; it can't be added up, and is counted for a day and for the total only.
    """

    completions: int = 0
    replies: int = 0
    failures: int = 0
    stopped: int = 0
    input_tokens: int = 0
    cached_input_tokens: int = 0
    cache_reported_input_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: Decimal = Decimal(0)
    unknown_costs: int = 0
    cost_with_history_usd: Decimal = Decimal(0)
    cost_without_history_usd: Decimal = Decimal(0)
    reported_input_tokens: int = 0
    estimated_input_tokens: int = 0
    estimate_error_tokens: int = 0
    users: int = 0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    @property
    def cache_share(self) -> float | None:
        reported = self.cache_reported_input_tokens
        return self.cached_input_tokens / reported if reported else None

    @property
    def reported_cached_tokens(self) -> int | None:
        """The cached tokens; None where there was input, and none of it with a report of what was cached."""
        is_reported = self.cache_reported_input_tokens or not self.input_tokens
        return self.cached_input_tokens if is_reported else None

    @property
    def context_cost_factor(self) -> float | None:
        if not self.cost_without_history_usd:
            return None
        return float(self.cost_with_history_usd / self.cost_without_history_usd)

    @property
    def context_cost_usd(self) -> Decimal:
        return self.cost_with_history_usd - self.cost_without_history_usd

    @property
    def estimate_error_share(self) -> float | None:
        return self.estimate_error_tokens / self.reported_input_tokens if self.reported_input_tokens else None

    def part_of(self, whole: Totals) -> Decimal:
        """Return which part of the whole's cost this is; of its tokens while nothing has a cost."""
        if whole.cost_usd:
            return self.cost_usd / whole.cost_usd
        return Decimal(self.tokens) / max(whole.tokens, 1)

    def without(self, parts: Iterable[Totals]) -> Totals:
        """Return the sums without these *parts*; of how many users they are is unknown, and stays 0."""
        taken = list(parts)
        return Totals(**{name: getattr(self, name) - sum(getattr(each, name) for each in taken) for name in SUMS})


# The columns of `LedgerSum` that add up.
SUMS = tuple(field.name for field in fields(Totals) if field.name != "users")
