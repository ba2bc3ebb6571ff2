"""Money for a reply that calls tools: before its first request it is held back for all that may follow.

    hold = requests that may follow · (largest prompt · dearest input price + reply reserve · output price)

The hold stands with the reply's run, beside what its running request holds back itself. Each later request takes its
own worst case out of it, in the transaction that writes its row of the ledger. It moves to the day and the month of
that row, so a loop that goes on over midnight needs the new day's money. Whatever ends the run gives back what is left:
a trigger of the database (`migrations/_holds_given_back.py`).
"""

from __future__ import annotations

from decimal import Decimal

from django.conf import settings

from conversations.core.money.allowance import worst_case_usd
from conversations.core.money.usage import UnitPrices
from conversations.models import Completion, Run, Scenario
from conversations.services.counting.model_context import effective_policy, model_context

from .spending import Amount


class LoopNotCovered(Exception):
    """The money does not cover the requests that may follow; the reply has to do without them."""


def loop_usd(scenario: Scenario, prices: UnitPrices | None, *, requests: int) -> Decimal | None:
    """Return the most that so many *requests* of a reply can cost, or None where a price is unknown."""
    language_model, policy = model_context(scenario).language_model, effective_policy(scenario)
    worst_usd = worst_case_usd(
        prices,
        input_tokens=policy.budget_tokens(language_model),  # not calibrated: what the provider may count
        output_tokens=policy.reply_reserve_tokens or language_model.reply_reserve_tokens,
    )
    return None if worst_usd is None else requests * worst_usd


def requests_after(step: int) -> int:
    """Return how many requests may follow that of *step*, if it may call tools: more of them, and then an answer."""
    return max(settings.TOOL_STEPS + 1 - step, 0)


def move_hold(completion: Completion, held_usd: Decimal) -> list[Amount]:
    """Let the run of the completion's reply hold *held_usd* from now on, and return what that changes.

    A run that has ended meanwhile holds nothing: nobody would give it back.
    """
    running = Run.objects.select_for_update().exclude(state="ended")
    if (run := running.filter(reply_id=completion.reply_id).first()) is None:
        return []
    Run.objects.filter(pk=run.pk).update(
        payer=completion.user_id, reserved_usd=held_usd, reserved_at=completion.created_at
    )
    held = Amount(completion.user_id, completion.created_at, held_usd)
    if run.reserved_usd is None or run.reserved_at is None:
        return [held]
    return [Amount(run.payer_id, run.reserved_at, -run.reserved_usd), held]
