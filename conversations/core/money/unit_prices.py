"""Unit prices of input, output, cached and written tokens, and what a request costs by them.

    cost_usd = (input − cached − written) · input price + cached · cached price + written · cache write price
             + output · output price

Prices are US dollars for one million tokens, and may rise for all tokens of a request once its input passes a
threshold (`PriceTier`). An unknown price makes an unknown cost, never 0; no tokens cost nothing at any price.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain
from typing import Any

from .usage import Usage

TOKENS_PER_PRICE = Decimal(1_000_000)
COST_PRECISION = Decimal("0.0000000001")
PRICE_DECIMALS = 8
LARGEST_PRICE_USD = Decimal(1_000_000)
PRICE_NAMES = ("input_usd", "output_usd", "cached_input_usd", "cache_write_usd")


@dataclass(frozen=True, slots=True)
class UnitPrices:
    """US dollars for a million tokens; None where a price is unknown. *source* says where they come from, with a date.

    *tiers*, lowest first, take the place of these prices above their thresholds.
    """

    input_usd: Decimal | None
    output_usd: Decimal | None
    cached_input_usd: Decimal | None = None
    cache_write_usd: Decimal | None = None
    source: str = ""
    tiers: tuple[PriceTier, ...] = ()

    def cached_or_input_usd(self) -> Decimal | None:
        """Return the price of cached tokens: that of other input, unless they have one."""
        return self.input_usd if self.cached_input_usd is None else self.cached_input_usd

    def cache_write_or_input_usd(self) -> Decimal | None:
        """Return the price of tokens written to the cache: that of other input, unless they have one."""
        return self.input_usd if self.cache_write_usd is None else self.cache_write_usd

    def for_input(self, input_tokens: int) -> UnitPrices:
        """Return the prices of a request with so many tokens of input, without tiers."""
        if not self.tiers:
            return self
        if not (reached := self._reached(input_tokens)):
            return replace(self, tiers=(), source=f"{self.source}, up to {self.tiers[0]}")
        return replace(reached[-1].prices, source=f"{self.source}, above {reached[-1]}")

    def highest(self, most_input_tokens: int) -> UnitPrices:
        """Return the most that each token of a request with at most so much input can cost: for reserving money.

        Beforehand it is unknown what will come from the cache or be written to it, so input costs the highest of the
        three.
        """
        within = [self, *(tier.prices for tier in self._reached(most_input_tokens))]
        input_prices = [
            (each.input_usd, each.cached_or_input_usd(), each.cache_write_or_input_usd()) for each in within
        ]
        return UnitPrices(
            input_usd=_most(chain.from_iterable(input_prices)),
            output_usd=_most(each.output_usd for each in within),
            source=self.source,
        )

    def _reached(self, input_tokens: int) -> list[PriceTier]:
        return [tier for tier in self.tiers if input_tokens > tier.above_input_tokens]

    def to_json(self) -> dict[str, Any]:
        """Return the price list as JSON: amounts are text, so that none passes through a float."""
        amounts = {name: getattr(self, name) for name in PRICE_NAMES}
        written = {name: None if amount is None else str(amount) for name, amount in amounts.items()}
        tiers = [{"above_input_tokens": each.above_input_tokens, **each.prices.to_json()} for each in self.tiers]
        return {**written, "source": self.source, "tiers": tiers}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> UnitPrices:
        amounts = {name: None if value[name] is None else Decimal(value[name]) for name in PRICE_NAMES}
        tiers = tuple(PriceTier(each["above_input_tokens"], cls.from_json(each)) for each in value["tiers"])
        return cls(**amounts, source=value["source"], tiers=tiers)


@dataclass(frozen=True, slots=True)
class PriceTier:
    """Prices that hold for all tokens of a request with more input than *above_input_tokens*."""

    above_input_tokens: int
    prices: UnitPrices

    def __str__(self) -> str:
        return f"{self.above_input_tokens:,} input tokens"


def cost_usd(usage: Usage, prices: UnitPrices | None) -> Decimal | None:
    """Return what *usage* costs, to the 10th decimal, or None where the price of any of its tokens is unknown."""
    rates = (prices or UnitPrices(None, None)).for_input(usage.input_tokens)
    total = Decimal(0)
    for tokens, price in (
        (usage.input_tokens - usage.known_cached_tokens - usage.cache_write_tokens, rates.input_usd),
        (usage.known_cached_tokens, rates.cached_or_input_usd()),
        (usage.cache_write_tokens, rates.cache_write_or_input_usd()),
        (usage.output_tokens, rates.output_usd),
    ):
        if tokens and price is None:
            return None
        total += tokens * (price or 0)
    return (total / TOKENS_PER_PRICE).quantize(COST_PRECISION)


def worst_case_usd(prices: UnitPrices | None, *, input_tokens: int, output_tokens: int) -> Decimal | None:
    """Return the most that a request with at most so many tokens can cost, or None where a price is unknown."""
    highest = prices.highest(input_tokens) if prices else None
    return cost_usd(Usage(input_tokens, output_tokens), highest)


def _most(prices: Iterable[Decimal | None]) -> Decimal | None:
    known = list(prices)
    return None if None in known else max(price for price in known if price is not None)
