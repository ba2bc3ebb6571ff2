"""The price of memory: what replies cost, against the same questions without what went before."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from conversations.selectors.figures.totals import Totals

from .cards import growth


@dataclass(frozen=True, slots=True)
class Memory:
    """The *total* of a period and of the one *before*, and the bars that compare the two costs, in per mille."""

    total: Totals
    before: Totals

    @property
    def is_free(self) -> bool:
        """Whether all prices are known, and nothing was to be paid."""
        return not self.total.unknown_costs and not self.total.cost_usd

    @property
    def sent_width(self) -> int:
        return self._width(self.total.remembering_cost_usd)

    @property
    def alone_width(self) -> int:
        return self._width(self.total.cost_without_history_usd)

    def _width(self, cost_usd: Decimal) -> int:
        largest = max(self.total.remembering_cost_usd, self.total.cost_without_history_usd)
        return int(1000 * cost_usd / largest) if largest else 0

    @property
    def changed(self) -> str:
        return growth(self.total.memory_price_usd, self.before.memory_price_usd)
