"""What a person may send, checked before anything is stored or a provider is called."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

from django.conf import settings
from django.db.models import Sum
from django.utils import timezone

from chatsite.accounts.models import User
from conversations.core.errors import MessageRateReached, MoneyUsedUp
from conversations.models import Completion, Run

MINUTE = dt.timedelta(minutes=1)


def check_limits(user: User) -> None:
    """Raise a `LimitReached` that says when it opens again.

    Locks the person's row until the transaction ends, so that of many messages sent at once each sees those before it.
    """
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    check_message_rate(user, limit=settings.MESSAGES_PER_MINUTE)
    check_money(user, limit_usd=settings.MONEY_PER_DAY_USD)


def check_message_rate(user: User, *, limit: int) -> None:
    """Refuse more than *limit* replies asked for in a minute; 0 is without limit."""
    if not limit:
        return
    asked = Run.objects.filter(reply__conversation__owner_id=user.pk, created_at__gt=timezone.now() - MINUTE)
    times = list(asked.order_by("-created_at").values_list("created_at", flat=True)[:limit])
    if len(times) == limit:
        raise MessageRateReached(opens_at=times[-1] + MINUTE)


def check_money(user: User, *, limit_usd: float | None) -> None:
    """Refuse when the person's known costs of this day (UTC) have reached *limit_usd*."""
    if limit_usd is None:
        return
    midnight = timezone.now().astimezone(dt.UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    spent = Completion.objects.filter(user_id=user.pk, created_at__gte=midnight).aggregate(sum=Sum("cost_usd"))["sum"]
    if (spent or Decimal(0)) >= Decimal(str(limit_usd)):
        raise MoneyUsedUp(opens_at=midnight + dt.timedelta(days=1))
