"""The limits of one API key, beside those of its owner: requests in a minute, money in a day and a month of UTC.

    spent = known cost of the key's requests that have ended + worst case of those that have not

They are checked while the row of the key is locked, in the transaction that opens the row of the ledger: of any number
of requests at once, each sees those before it.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

from django.utils import timezone

from chatsite.postgres.compiled_query import CompiledQuery
from conversations.core.errors import ApiKeyInvalid, ApiKeyRateReached
from conversations.core.errors.access import wait_seconds
from conversations.core.money.allowance import allowance_error
from conversations.models import ApiKey, Completion, Run
from conversations.models.completion import Purpose
from conversations.models.revocable import open_now_sql
from conversations.selectors.figures.spending import key_allowances

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
        raise ApiKeyRateReached(seconds=wait_seconds(timezone.now(), times[-limit] + MINUTE))


def lock_open_key(key_id: int) -> ApiKey:
    """Lock the row of a key until the transaction ends, and return it. Raises `ApiKeyInvalid` once it opens nothing.

    Its owner has to be locked before: the deletion of an account locks in that order.
    """
    if (key := LOCKED.first(key_id)) is None:
        raise ApiKeyInvalid
    return key


def check_key_money(key: ApiKey, worst_usd: Decimal | None) -> None:
    """Raise `ApiKeyMoneyUsedUp` or another error of an allowance, unless the key's own money covers *worst_usd*."""
    if error := allowance_error(key_allowances(key, at=timezone.now()), worst_usd):
        raise error
