"""Money that may be spent in a day or a month, and the error that says why it does not cover a request.

    left = limit − spent − reserved
    a request is covered if its worst case ≤ left, or if it costs nothing

Amounts are US dollars; days and months are those of UTC. *reserved* is the worst case of the requests that are running.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from conversations.core.errors import (
    AccessError,
    ApiKeyMoneyReserved,
    ApiKeyMoneyUsedUp,
    ApiKeyRequestTooExpensive,
    MoneyForbidden,
    MoneyReserved,
    MoneyUsedUp,
    MonthlyMoneyUsedUp,
    PriceUnknown,
    ReplyTooExpensive,
    SiteMoneyReserved,
    SiteMoneyUsedUp,
    SiteMonthlyMoneyUsedUp,
)

Whose = Literal["user", "site", "key"]
LimitPeriod = Literal["day", "month"]
Refusal = Literal["reserved", "used_up", "too_expensive"]

PERIODS: tuple[LimitPeriod, ...] = ("day", "month")
BY_URGENCY: tuple[Refusal, ...] = ("reserved", "used_up", "too_expensive")
USED_UP: dict[tuple[Whose, LimitPeriod], type[MoneyUsedUp]] = {
    ("user", "day"): MoneyUsedUp,
    ("user", "month"): MonthlyMoneyUsedUp,
    ("site", "day"): SiteMoneyUsedUp,
    ("site", "month"): SiteMonthlyMoneyUsedUp,
}


@dataclass(frozen=True, slots=True)
class Allowance:
    """The money that a user, all users of the site together, or an API key may spend in a day or month, if limited."""

    whose: Whose
    period: LimitPeriod
    begins_on: dt.date
    limit_usd: Decimal
    spent_usd: Decimal = Decimal(0)
    reserved_usd: Decimal = Decimal(0)

    @property
    def left_usd(self) -> Decimal:
        return max(self.limit_usd - self.spent_usd - self.reserved_usd, Decimal(0))

    @property
    def opens_at(self) -> dt.datetime:
        """When the next day or month begins."""
        return end_of_period(self.period, self.begins_on)

    def refusal(self, worst_usd: Decimal) -> Refusal | None:
        """Return why a request that may cost *worst_usd* is not covered, or None if it is."""
        if not worst_usd:
            return None
        if worst_usd > self.limit_usd:
            return "too_expensive"
        if self.spent_usd + worst_usd > self.limit_usd:
            return "used_up"
        return "reserved" if self.spent_usd + self.reserved_usd + worst_usd > self.limit_usd else None

    def error(self, refusal: Refusal) -> AccessError:
        if self.whose == "key":
            return self._error_of_key(refusal)
        if refusal == "too_expensive":
            return ReplyTooExpensive() if self.limit_usd else MoneyForbidden()
        if refusal == "used_up":
            return USED_UP[self.whose, self.period](opens_at=self.opens_at)
        return MoneyReserved() if self.whose == "user" else SiteMoneyReserved()

    def _error_of_key(self, refusal: Refusal) -> AccessError:
        if refusal == "too_expensive":
            return ApiKeyRequestTooExpensive()
        return ApiKeyMoneyReserved() if refusal == "reserved" else ApiKeyMoneyUsedUp(opens_at=self.opens_at)


def begins_of_periods(at: dt.datetime) -> dict[LimitPeriod, dt.date]:
    """Return the first day of the day and of the month of *at*."""
    today = at.astimezone(dt.UTC).date()
    return {"day": today, "month": today.replace(day=1)}


def end_of_period(period: LimitPeriod, begins_on: dt.date) -> dt.datetime:
    """Return when the day or month that begins on *begins_on* is over."""
    days = 1 if period == "day" else 32
    after = begins_on + dt.timedelta(days=days)
    return dt.datetime.combine(after if period == "day" else after.replace(day=1), dt.time(), dt.UTC)


def allowance_error(allowances: Collection[Allowance], worst_usd: Decimal | None) -> AccessError | None:
    """Return the error that a request with that worst case meets, or None if all *allowances* cover it.

    Of several that refuse it, the one that opens last speaks. None is an unknown worst case.
    """
    if worst_usd is None:
        return PriceUnknown() if allowances else None
    refusing = [(refusal, each) for each in allowances if (refusal := each.refusal(worst_usd))]
    if not refusing:
        return None
    refusal, allowance = max(refusing, key=lambda pair: (BY_URGENCY.index(pair[0]), pair[1].opens_at))
    return allowance.error(refusal)
