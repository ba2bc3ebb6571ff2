"""Money in words: what is left of a person's, and what a draft may cost. Nothing is said where nothing is limited.

Amounts are US dollars. What is left is rounded down and what may be spent is rounded up, so that neither promises more.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from django.utils.translation import gettext

from conversations.core.money import Allowance
from conversations.services.estimate_draft import DraftEstimate

CENT, SMALLEST = Decimal("0.01"), Decimal("0.0001")


def money_in_words(estimated: DraftEstimate) -> dict[str, str]:
    """Return what the meter says: *left* and *most*, each blank if there is nothing to say."""
    return {"left": left_in_words(estimated.allowances), "most": _most_in_words(estimated)}


def left_in_words(allowances: Iterable[Allowance]) -> str:
    """Return what is left of the person's day, or of the month if that is less. What the site has is nobody's."""
    own = [(each.left_usd, each) for each in allowances if each.whose == "person" and each.left_usd is not None]
    if not own:
        return ""
    left_usd, tightest = min(own, key=lambda pair: pair[0])
    words = {
        "day": gettext("%(left)s of %(limit)s left today"),
        "month": gettext("%(left)s of %(limit)s left this month"),
    }
    limit_usd = tightest.limit_usd or Decimal(0)
    return words[tightest.period] % {"left": _dollars(left_usd, ROUND_FLOOR), "limit": _dollars(limit_usd, ROUND_FLOOR)}


def _most_in_words(estimated: DraftEstimate) -> str:
    if not (estimated.allowances and estimated.window):
        return ""
    if estimated.worst_usd is None:
        return gettext("sending costs: unknown")
    return gettext("sending costs up to %(most)s") % {"most": _dollars(estimated.worst_usd, ROUND_CEILING)}


def _dollars(amount: Decimal, rounding: str) -> str:
    """Return the amount in cents, or as much more exactly as an amount below a cent needs."""
    exact = amount.quantize(SMALLEST, rounding)
    return f"${exact if 0 < exact < CENT else amount.quantize(CENT, rounding):,}"
