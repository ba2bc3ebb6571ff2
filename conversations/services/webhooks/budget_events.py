"""Events of budgets: what was spent is compared with each allowance a few times a minute, and each event stored once.

Sums and limits are stored, and an event is told apart by allowance, period, limit and percentage. So it does not matter
who compares, how often, or what dies meanwhile: no event is lost, none comes twice. A key's webhook is told of the
key's own allowances and of its owner's, the site's webhook of the site's. A key that opens nothing any more is told
nothing.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

from django.db import connection
from django.utils import timezone

from conversations.access import find_open_keys
from conversations.core.api.webhook_events import BUDGET_REACHED, PERCENTS
from conversations.core.money.allowance import Allowance
from conversations.core.money.amounts import write_amount
from conversations.models import Webhook, WebhookDelivery
from conversations.selectors.figures.spending import allowances, key_allowances, money_limits

AT_ONCE = 50
CHECK_SECONDS = 15
LATE = dt.timedelta(hours=1)  # what began so long ago, in a day that is over, may only now have its cost
CLAIM = """
UPDATE conversations_webhook SET budgets_checked_at = statement_timestamp() WHERE id IN (
  SELECT id FROM conversations_webhook
  WHERE disabled_at IS NULL
    AND (budgets_checked_at IS NULL OR budgets_checked_at < statement_timestamp() - make_interval(secs => %s))
  ORDER BY budgets_checked_at NULLS FIRST LIMIT %s FOR NO KEY UPDATE SKIP LOCKED
) RETURNING id
"""


def store_budget_events() -> int:
    """Compare the budgets of webhooks that are due for it. Returns how many webhooks those were."""
    with connection.cursor() as cursor:
        cursor.execute(CLAIM, [CHECK_SECONDS, AT_ONCE])
        ids = [pk for (pk,) in cursor.fetchall()]
    webhooks = list(Webhook.objects.filter(pk__in=ids).select_related("api_key__owner"))
    open_keys = find_open_keys([each.api_key_id for each in webhooks if each.api_key_id is not None])
    for webhook in webhooks:
        if webhook.api_key_id is None or webhook.api_key_id in open_keys:
            _store_events(webhook, at=timezone.now())
    return len(ids)


def _store_events(webhook: Webhook, *, at: dt.datetime) -> None:
    """Store an event for each percentage of an allowance that is reached, unless it is stored already."""
    reached = {
        f"{each.whose} {each.period} {each.begins_on} {each.limit_usd} {percent}": _data(each, percent)
        for moment in (at - LATE, at)
        for each in _allowances(webhook, at=moment)
        for percent in PERCENTS
        if is_reached(each, percent)
    }
    events = [
        WebhookDelivery(
            webhook=webhook, event_type=BUDGET_REACHED, data=data, once=once, created_at=at, due_at=at, attempt=0
        )
        for once, data in reached.items()
    ]
    WebhookDelivery.objects.bulk_create(events, ignore_conflicts=True)


def is_reached(allowance: Allowance, percent: int) -> bool:
    """Tell whether so much of it is spent; what is only reserved does not count. Of a limit of 0 nothing is told."""
    return allowance.limit_usd > 0 and 100 * allowance.spent_usd >= percent * allowance.limit_usd


def _data(allowance: Allowance, percent: int) -> dict[str, object]:
    return {
        "id": f"budget_{allowance.whose}_{allowance.period}_{allowance.begins_on}",
        "budget": allowance.whose,
        "period": allowance.period,
        "begins_on": str(allowance.begins_on),
        "ends_at": int(allowance.opens_at.timestamp()),
        "percent": percent,
        "limit_usd": write_amount(allowance.limit_usd),
        "spent_usd": write_amount(allowance.spent_usd),
    }


def _allowances(webhook: Webhook, *, at: dt.datetime) -> Iterator[Allowance]:
    """Yield the allowances of the day and the month of *at* of which *webhook* is told."""
    key = webhook.api_key
    user = key.owner if key else None
    whose = "user" if key else "site"
    yield from (each for each in allowances(user, money_limits(user), at=at) if each.whose == whose)
    if key:
        yield from key_allowances(key, at=at)
