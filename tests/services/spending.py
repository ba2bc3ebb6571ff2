"""Requests that cost what a test says, and the sums that they leave."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal

from chatsite.accounts.models import Limits
from conversations.core.money.unit_prices import UnitPrices
from conversations.core.money.usage import Usage
from conversations.models import Spending
from conversations.models.completion import Purpose
from conversations.services.ledger.ledger import NewCompletion, Outcome, open_completion, settle_completion

PRICES = UnitPrices(input_usd=Decimal(1), output_usd=Decimal(2))
DOLLAR = Decimal(1)


def asked(user, *, worst_usd=DOLLAR, purpose=Purpose.REPLY, prices=PRICES, **fields):
    """Return a request that may cost *worst_usd*, all of it for input."""
    tokens = int(worst_usd * 1_000_000)
    return NewCompletion(
        purpose=purpose,
        user=user,
        language_model="letters",
        body={},
        prices=prices,
        prompt_tokens=tokens,
        most_prompt_tokens=tokens,
        max_output_tokens=0,
        **fields,
    )


def open_row(user, **fields):
    return open_completion(asked(user, **fields))


def settle_at(completion, cost_usd):
    """Let the request have cost *cost_usd*."""
    assert settle_completion(completion, Outcome(usage=Usage(int(Decimal(cost_usd) * 1_000_000), 0)))


def sums():
    """Return (spent, reserved) of each sum, those of the site over all of their parts."""
    added_up = defaultdict(lambda: (Decimal(0), Decimal(0)))
    for row in Spending.objects.select_related("user"):
        key = row.user and row.user.name, row.period
        spent, reserved = added_up[key]
        added_up[key] = spent + row.spent_usd, reserved + row.reserved_usd
    return dict(added_up)


def everywhere(spent, reserved):
    return {
        (whose, period): (Decimal(spent), Decimal(reserved)) for whose in ("Alice", None) for period in ("day", "month")
    }


def limit(user, **money):
    Limits.objects.update_or_create(user=user, defaults=money)
