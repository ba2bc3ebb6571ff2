"""The cost of a request as its provider reports it, beside the tokens in the *usage* object.

    {"cost", "is_byok", "cost_details": {"upstream_inference_cost"}}    OpenRouter, LiteLLM's streams
    {"cost_in_usd_ticks"}                                               xAI: 10^10 of them are a dollar

It is kept beside ours and is never what is spent: a cost of the ledger can always be worked out again from its row.
OpenRouter's is in credits, of which each is a US dollar. With a key of one's own it names its fee there, and apart from
that what the other provider is paid. LiteLLM's header x-litellm-response-cost is not read: streams come without it.
Checked 2026-11-23: https://openrouter.ai/docs/use-cases/usage-accounting https://github.com/BerriAI/litellm/pull/36281
https://github.com/BerriAI/litellm/pull/39069 https://github.com/BerriAI/litellm/issues/12689
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from conversations.core.money.unit_prices import COST_PRECISION

TICKS_PER_USD = 10**10
MOST_USD = 10**9  # the ledger's column holds more


def parse_reported_cost_usd(reported: Mapping[str, Any]) -> Decimal | None:
    """Return the cost that *reported* usage names in US dollars; None where it names none, or what is no amount."""
    try:
        cost = _cost_usd(reported)
    except ValueError:
        return None
    return None if cost is None or cost >= MOST_USD else cost.quantize(COST_PRECISION)


def _cost_usd(reported: Mapping[str, Any]) -> Decimal | None:
    cost = _amount(reported.get("cost"))
    if cost is None:
        ticks = _amount(reported.get("cost_in_usd_ticks"))
        return None if ticks is None else ticks / TICKS_PER_USD
    if reported.get("is_byok") is not True:
        return cost
    details = reported.get("cost_details")
    paid_elsewhere = _amount(details.get("upstream_inference_cost")) if isinstance(details, Mapping) else None
    return None if paid_elsewhere is None else cost + paid_elsewhere


def _amount(value: object) -> Decimal | None:
    """Return an amount of money, None if there is none. Raises `ValueError` for anything else."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < MOST_USD * TICKS_PER_USD:
        raise ValueError(value)
    return Decimal(str(value))
