"""Allowances: what a user and the site may still spend, from limits and sums that are read together."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Q, Sum

from chatsite.accounts.limits import EffectiveLimits, effective_limits
from chatsite.accounts.models import SiteBudget, User
from conversations.core.money.allowance import PERIODS, Allowance, LimitPeriod, Whose
from conversations.models import Spending

NOTHING = (Decimal(0), Decimal(0))


@dataclass(frozen=True, slots=True)
class MoneyLimits:
    """US dollars by who may spend them and in which period; what is not there is without limit."""

    by_row: dict[tuple[Whose, LimitPeriod], Decimal]

    def __bool__(self) -> bool:
        return bool(self.by_row)


def money_limits(user: User | None, limits: EffectiveLimits | None = None) -> MoneyLimits:
    """Return what *user*, if any, and the whole site may spend; *limits* if they are known already."""
    if user and limits is None:
        limits = effective_limits(user)
    site_budget = limits.site_budget if limits else SiteBudget.objects.first()
    sources: dict[Whose, EffectiveLimits | SiteBudget | None] = {"user": limits, "site": site_budget}
    amounts = {
        (whose, period): getattr(source, f"money_per_{period}_usd")
        for whose, source in sources.items()
        if source
        for period in PERIODS
    }
    return MoneyLimits({row: amount for row, amount in amounts.items() if amount is not None})


def allowances(user: User | None, limits: MoneyLimits, *, at: dt.datetime) -> list[Allowance]:
    """Return what is limited by *limits*, with what has become of it in the day and the month of *at*."""
    if not limits:
        return []
    sums = _read_sums(Q(user=None) | Q(user=user.pk) if user else Q(user=None), begins := _begins(at))
    return [
        Allowance(whose, period, begins[period], limit, *sums.get((whose, period), NOTHING))
        for (whose, period), limit in limits.by_row.items()
    ]


def spent_now(user: User | None, *, at: dt.datetime) -> list[Spending]:
    """Return the sums of *user*, or of the whole site, for the day and the month of *at*; these rows are not stored."""
    sums = _read_sums(Q(user=user), begins := _begins(at))
    whose: Whose = "user" if user else "site"
    return [
        Spending(user=user, period=period, begins_on=day, spent_usd=spent, reserved_usd=reserved)
        for period, day in begins.items()
        for spent, reserved in [sums.get((whose, period), NOTHING)]
    ]


def _begins(at: dt.datetime) -> dict[LimitPeriod, dt.date]:
    today = at.astimezone(dt.UTC).date()
    return {"day": today, "month": today.replace(day=1)}


def _read_sums(
    whose_rows: Q, begins: dict[LimitPeriod, dt.date]
) -> dict[tuple[Whose, LimitPeriod], tuple[Decimal, Decimal]]:
    """Return (spent, reserved) of each sum, those of the site over all of their parts."""
    rows = Spending.objects.filter(whose_rows, begins_on__in=begins.values())
    sums = rows.values_list("user_id", "period", "begins_on").annotate(Sum("spent_usd"), Sum("reserved_usd"))
    return {
        ("user" if user_id else "site", period): (spent, reserved)
        for user_id, period, begins_on, spent, reserved in sums
        if begins[period] == begins_on
    }
