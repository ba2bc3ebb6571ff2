"""Allowances: what a user and the site may still spend, from limits and sums that are read together."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Q

from chatsite.accounts.limits import EffectiveLimits, effective_limits
from chatsite.accounts.models import SiteBudget, User
from conversations.core.money.allowance import PERIODS, Allowance, LimitPeriod, Whose
from conversations.models import Spending


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
    begins = {"day": at.astimezone(dt.UTC).date(), "month": at.astimezone(dt.UTC).date().replace(day=1)}
    whose_rows = Q(user=None) | Q(user=user.pk) if user else Q(user=None)
    rows = Spending.objects.filter(whose_rows, begins_on__in=begins.values())
    sums = {("user" if row.user_id else "site", row.period, row.begins_on): row for row in rows}
    return [
        Allowance(whose, period, begins[period], limit, *_sums(sums.get((whose, period, begins[period]))))
        for (whose, period), limit in limits.by_row.items()
    ]


def spent_now(user: User | None, *, at: dt.datetime) -> list[Spending]:
    """Return the sums of *user*, or of the whole site, for the day and the month of *at*; blank ones are not stored."""
    today = at.astimezone(dt.UTC).date()
    begins: dict[LimitPeriod, dt.date] = {"day": today, "month": today.replace(day=1)}
    stored = Spending.objects.filter(user=user, begins_on__in=begins.values())
    found = {(row.period, row.begins_on): row for row in stored}
    return [
        found.get((period, day)) or Spending(user=user, period=period, begins_on=day) for period, day in begins.items()
    ]


def _sums(row: Spending | None) -> tuple[Decimal, Decimal]:
    return (row.spent_usd, row.reserved_usd) if row else (Decimal(0), Decimal(0))
