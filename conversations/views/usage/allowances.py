"""The lines of a user's allowances: their own money in amounts, the site's only as a share.

What other users have spent is private, but a user must know that replies may be refused because of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from conversations.core.money.allowance import Allowance, LimitPeriod, Whose
from conversations.templatetags.figures import share
from conversations.wording.error_sentences import ReaderLocale
from conversations.wording.money_amounts import rounded_usd

from .money_left import allowance_sentence, opening_moment

NAMES: dict[tuple[Whose, LimitPeriod], Promise] = {
    ("user", "day"): gettext_lazy("You, today"),
    ("user", "month"): gettext_lazy("You, this month"),
    ("site", "day"): gettext_lazy("Everyone, today"),
    ("site", "month"): gettext_lazy("Everyone, this month"),
}
HUNDREDTH = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class AllowanceLine:
    """One line: what is *left* in words, *held_back* of that if anything is, and how wide the bar of what is gone."""

    name: Promise
    left: str
    held_back: str
    used_width: str


def allowance_lines(allowances: Iterable[Allowance], reader: ReaderLocale) -> list[AllowanceLine]:
    return [
        AllowanceLine(NAMES[each.whose, each.period], _left(each, reader), _held_back(each), f"{_used(each):.2f}%")
        for each in allowances
    ]


def _left(allowance: Allowance, reader: ReaderLocale) -> str:
    if not allowance.limit_usd:
        return gettext("No spending allowed.")
    if allowance.whose == "user":
        return allowance_sentence(allowance, reader)
    left = (allowance.left_usd / allowance.limit_usd).quantize(HUNDREDTH, ROUND_FLOOR)
    return gettext("%(share)s left until %(opens_at)s") % {
        "share": share(float(left)),
        "opens_at": opening_moment(allowance, reader),
    }


def _held_back(allowance: Allowance) -> str:
    if allowance.whose == "site" or not allowance.reserved_usd:
        return ""
    return gettext("Reserved for replies in progress: %(amount)s.") % {
        "amount": rounded_usd(allowance.reserved_usd, ROUND_CEILING)
    }


def _used(allowance: Allowance) -> Decimal:
    """Return what is gone, in per cent."""
    return 100 - 100 * allowance.left_usd / allowance.limit_usd if allowance.limit_usd else Decimal(100)
