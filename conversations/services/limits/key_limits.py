"""The limits of one API key, beside those of its owner: requests in a minute, money in a day and a month of UTC.

    spent = known cost of the key's requests that have ended + worst case of those that have not

They are checked while the row of the key is locked, in the transaction that opens the row of the ledger: of any number
of requests at once, each sees those before it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from decimal import Decimal

from django.db.models import Q, Sum
from django.utils import timezone

from chatsite.postgres.compiled_query import CompiledQuery
from conversations.core.errors import ApiKeyInvalid, ApiKeyMoneyUsedUp, ApiKeyRateReached, PriceUnknown
from conversations.core.money.allowance import PERIODS, Allowance, LimitPeriod
from conversations.models import ApiKey, Completion, Run
from conversations.models.completion import Purpose
from conversations.models.revocable import open_now_sql

MINUTE = dt.timedelta(minutes=1)
LOCKED = CompiledQuery(
    ApiKey.objects.all(), f"WHERE id = %s AND {open_now_sql('conversations_apikey')} FOR NO KEY UPDATE"
)


def check_key_rate(key: ApiKey) -> None:
    """Raise `ApiKeyRateReached` if *key* has asked as often as it may in a minute."""
    if not (limit := key.requests_per_minute):
        return
    since = timezone.now() - MINUTE
    outside = Completion.objects.filter(api_key=key, purpose=Purpose.API, attempt=1, created_at__gt=since)
    replies = Run.objects.filter(api_key=key, created_at__gt=since)
    times = sorted((*outside.values_list("created_at", flat=True), *replies.values_list("created_at", flat=True)))
    if len(times) >= limit:
        raise ApiKeyRateReached(opens_at=times[-limit] + MINUTE)


def lock_open_key(key_id: int) -> ApiKey:
    """Lock the row of a key until the transaction ends, and return it. Raises `ApiKeyInvalid` once it opens nothing.

    Its owner has to be locked before: the deletion of an account locks in that order.
    """
    if (key := LOCKED.first(key_id)) is None:
        raise ApiKeyInvalid
    return key


def check_key_money(key: ApiKey, worst_usd: Decimal | None) -> None:
    """Raise `ApiKeyMoneyUsedUp`, or `PriceUnknown`, unless the key's own money covers a request of *worst_usd*."""
    check_key_allowances(key_allowances(key), worst_usd)


def check_key_allowances(found: Iterable[Allowance], worst_usd: Decimal | None) -> None:
    """Raise the same unless the allowances of a key cover it."""
    for allowance in found:
        if worst_usd is None:
            raise PriceUnknown
        if allowance.refusal(worst_usd):
            raise ApiKeyMoneyUsedUp(opens_at=allowance.opens_at)


def key_allowances(key: ApiKey) -> list[Allowance]:
    """Return what is limited by *key* itself, with what has become of it in this day and month."""
    limits: dict[LimitPeriod, Decimal | None] = {
        "day": key.money_per_day_usd,
        "month": key.money_per_month_usd,
    }
    today = timezone.now().astimezone(dt.UTC).date()
    begins: dict[LimitPeriod, dt.date] = {"day": today, "month": today.replace(day=1)}
    return [
        Allowance("user", period, begins[period], limit, *spent_since(key, begins[period]))
        for period in PERIODS
        if (limit := limits[period]) is not None
    ]


def spent_since(key: ApiKey, day: dt.date) -> tuple[Decimal, Decimal]:
    """Return the known cost of the key's requests since the begin of *day*, and what is reserved for those running."""
    begin = dt.datetime.combine(day, dt.time(), dt.UTC)
    sums = Completion.objects.filter(api_key=key, created_at__gte=begin).aggregate(
        spent=Sum("cost_usd", filter=Q(ended_at__isnull=False)), reserved=Sum("reserved_usd", filter=Q(ended_at=None))
    )
    return sums["spent"] or Decimal(0), sums["reserved"] or Decimal(0)
