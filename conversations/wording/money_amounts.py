"""Amounts of money as text: to their last digit, or in cents. All are US dollars."""

from __future__ import annotations

from decimal import Decimal

from django.utils.translation import gettext, pgettext

from conversations.core.money.unit_prices import UnitPrices

CENT, SMALLEST = Decimal("0.01"), Decimal("0.0001")


def split_usd(amount: Decimal) -> tuple[str, str]:
    """Return what is written up to the cents, and the digits behind them that are not zeros at the end."""
    digits = f"{amount:,.10f}"
    return f"{_dollars()}{digits[:-8]}", digits[-8:].rstrip("0")


def exact_usd(amount: Decimal) -> str:
    """Return an amount to the cent, and further only where it goes further."""
    return "".join(split_usd(amount))


def rounded_usd(amount: Decimal, rounding: str) -> str:
    """Return an amount in cents, or as much more exactly as one below a cent needs; *rounding* is decimal's."""
    exact = amount.quantize(SMALLEST, rounding)
    return f"{_dollars()}{exact if 0 < exact < CENT else amount.quantize(CENT, rounding):,}"


def _dollars() -> str:
    return pgettext("US dollars, before an amount", "$")


def price_label(prices: UnitPrices | None) -> str:
    """Return what a million tokens of input and of output cost, for a list to choose from."""
    if prices is None or prices.input_usd is None or prices.output_usd is None:
        return gettext("price unknown")
    if not (prices.input_usd or prices.output_usd or prices.tiers):
        return gettext("free")
    amounts = {"input": exact_usd(prices.input_usd), "output": exact_usd(prices.output_usd)}
    if prices.tiers:
        return gettext("from %(input)s in / %(output)s out per million tokens") % amounts
    return gettext("%(input)s in / %(output)s out per million tokens") % amounts
