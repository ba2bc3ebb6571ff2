"""Allowances: what a user, the site and an API key may still spend.

Sums of users and of the site are stored. Those of a key are added up from its rows of the ledger (decision 84).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Q, Sum

from chatsite.accounts.limits import EffectiveLimits, effective_limits
from chatsite.accounts.models import SiteBudget, User
from conversations.core.money.allowance import (
    PERIODS,
    Allowance,
    LimitPeriod,
    Whose,
    begins_of_periods,
    end_of_period,
)
from conversations.models import ApiKey, Completion, Spending

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
    sums = _read_sums(Q(user=None) | Q(user=user.pk) if user else Q(user=None), begins := begins_of_periods(at))
    return [
        Allowance(whose, period, begins[period], limit, *sums.get((whose, period), NOTHING))
        for (whose, period), limit in limits.by_row.items()
    ]


def spent_now(user: User | None, *, at: dt.datetime) -> list[Spending]:
    """Return the sums of *user*, or of the whole site, for the day and the month of *at*; these rows are not stored."""
    sums = _read_sums(Q(user=user), begins := begins_of_periods(at))
    whose: Whose = "user" if user else "site"
    return [
        Spending(user=user, period=period, begins_on=day, spent_usd=spent, reserved_usd=reserved)
        for period, day in begins.items()
        for spent, reserved in [sums.get((whose, period), NOTHING)]
    ]


def key_allowances(key: ApiKey, *, at: dt.datetime) -> list[Allowance]:
    """Return what is limited by *key* itself, with what has become of it in the day and the month of *at*."""
    limits: dict[LimitPeriod, Decimal | None] = {"day": key.money_per_day_usd, "month": key.money_per_month_usd}
    begins = begins_of_periods(at)
    return [
        Allowance("key", period, begins[period], limit, *spent_by_keys([key], period, at=at).get(key.pk, NOTHING))
        for period in PERIODS
        if (limit := limits[period]) is not None
    ]


def spent_by_keys(
    keys: Collection[ApiKey], period: LimitPeriod, *, at: dt.datetime
) -> dict[int, tuple[Decimal, Decimal]]:
    """Return (spent, reserved) of those of *keys* that have asked in the day or month of *at*, by their number.

    Spent is the known cost of requests that have ended, reserved the worst case of those that have not.
    """
    day = begins_of_periods(at)[period]
    begin, end = dt.datetime.combine(day, dt.time(), dt.UTC), end_of_period(period, day)
    rows = Completion.objects.filter(api_key__in=keys, created_at__gte=begin, created_at__lt=end)
    sums = (
        rows.order_by()
        .values("api_key_id")
        .annotate(
            spent=Sum("cost_usd", filter=Q(ended_at__isnull=False)),
            reserved=Sum("reserved_usd", filter=Q(ended_at=None)),
        )
    )
    found = sums.values_list("api_key_id", "spent", "reserved")
    return {key_id: (spent or Decimal(0), reserved or Decimal(0)) for key_id, spent, reserved in found}


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
