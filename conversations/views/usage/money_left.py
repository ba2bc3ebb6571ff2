"""Sentences about money: what is left of a user's allowance, where it is limited, and what a draft may cost.

Amounts are US dollars. What is left is rounded down and what may be spent is rounded up, so that neither promises more.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR

from django.utils.translation import gettext

from conversations.core.money.allowance import Allowance
from conversations.services.messages.estimate_draft import DraftEstimate
from conversations.wording.error_sentences import ReaderLocale
from conversations.wording.money_amounts import rounded_usd


def money_sentences(estimated: DraftEstimate, reader: ReaderLocale) -> dict[str, str]:
    """Return what the meter says: *left* and *most*, each blank if there is nothing to say."""
    return {"left": money_left_sentence(estimated.allowances, reader), "most": _most_cost_sentence(estimated)}


def money_left_sentence(allowances: Iterable[Allowance], reader: ReaderLocale) -> str:
    """Return what is left of the user's day, or of the month if that is no more. The site's is not theirs."""
    own = [each for each in allowances if each.whose == "user" and each.limit_usd]
    if not own:
        return ""
    return allowance_sentence(min(own, key=lambda each: (each.left_usd, each.period == "day")), reader)


def allowance_sentence(allowance: Allowance, reader: ReaderLocale) -> str:
    """Return how much is left of a user's money, and until when."""
    return gettext("%(left)s of %(limit)s left until %(opens_at)s") % {
        "left": rounded_usd(allowance.left_usd, ROUND_FLOOR),
        "limit": rounded_usd(allowance.limit_usd, ROUND_FLOOR),
        "opens_at": opening_moment(allowance, reader),
    }


def opening_moment(allowance: Allowance, reader: ReaderLocale) -> str:
    """Return when the next day or month begins; of a day the time says it all."""
    tell = reader.format_time if allowance.period == "day" else reader.tell
    return tell(allowance.opens_at)


def _most_cost_sentence(estimated: DraftEstimate) -> str:
    tells = estimated.allowances or estimated.conversation.owner.shows_costs
    if not (tells and estimated.window):
        return ""
    if estimated.worst_usd is None:
        return gettext("cost of sending: unknown")
    if not estimated.worst_usd:
        return gettext("sending is free")
    return gettext("sending costs up to %(most)s") % {"most": rounded_usd(estimated.worst_usd, ROUND_CEILING)}
