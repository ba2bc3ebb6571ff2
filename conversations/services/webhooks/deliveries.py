"""Claim what is to be sent to webhooks, store how it ended, and sweep what is old.

One webhook is chosen by chance among those with something due, and its oldest event is claimed. At most
`CLAIMED_OF_OWNER` events of one owner are sent at once, so a receiver that never answers keeps no other one waiting. A
process that dies has its events sent again once their lease is over: receivers know them by their id.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone

from chatsite.accounts.second_factors.secret_encryption import decrypt_secret_or_none
from conversations.access import find_open_keys
from conversations.core.api.webhook_events import seconds_until_retry, sign_event, write_event
from conversations.models import Webhook, WebhookDelivery
from conversations.providers.clients.webhooks import WebhookAnswer

GONE = 410
CLAIMED_OF_OWNER = 4
LEASE_SECONDS = 25  # much more than a delivery may take
KEPT = dt.timedelta(days=7)
JITTER = 0.1
# Leases that are over keep nothing back. Without SKIP LOCKED two processes would wait for one another here.
CLAIM = """
WITH claimed AS (
  SELECT key.owner_id, count(*) AS deliveries FROM conversations_webhookdelivery AS delivery
  JOIN conversations_webhook AS webhook ON webhook.id = delivery.webhook_id
  LEFT JOIN conversations_apikey AS key ON key.id = webhook.api_key_id
  WHERE delivery.lease_until > statement_timestamp() GROUP BY key.owner_id
), chosen AS MATERIALIZED (
  SELECT webhook.id FROM conversations_webhook AS webhook
  LEFT JOIN conversations_apikey AS key ON key.id = webhook.api_key_id
  WHERE EXISTS (
    SELECT FROM conversations_webhookdelivery AS delivery
    WHERE delivery.webhook_id = webhook.id AND delivery.due_at <= statement_timestamp()
      AND (delivery.lease_until IS NULL OR delivery.lease_until < statement_timestamp())
  ) AND NOT EXISTS (
    SELECT FROM claimed WHERE claimed.owner_id IS NOT DISTINCT FROM key.owner_id AND claimed.deliveries >= %(most)s
  )
  ORDER BY random() LIMIT 1
), next AS (
  SELECT delivery.id FROM conversations_webhookdelivery AS delivery JOIN chosen ON chosen.id = delivery.webhook_id
  WHERE delivery.due_at <= statement_timestamp()
    AND (delivery.lease_until IS NULL OR delivery.lease_until < statement_timestamp())
  ORDER BY delivery.due_at, delivery.id LIMIT 1 FOR UPDATE OF delivery SKIP LOCKED
)
UPDATE conversations_webhookdelivery AS delivery
SET attempt = attempt + 1, tried_at = statement_timestamp(),
    lease_until = statement_timestamp() + make_interval(secs => %(lease_seconds)s)
FROM next WHERE delivery.id = next.id RETURNING delivery.id
"""


@dataclass(frozen=True, slots=True)
class ClaimedDelivery:
    """An event that this process is to send now: where to and what."""

    id: int
    webhook_id: int
    attempt: int
    url: str
    body: bytes
    headers: Mapping[str, str]
    is_of_site: bool


def claim_delivery() -> ClaimedDelivery | None:
    """Take the next event that is due, for as long as a lease. None if there is none, or if it is not to be sent.

    It is given up where its key opens nothing any more, and tried later where it can't be signed.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(CLAIM, {"most": CLAIMED_OF_OWNER, "lease_seconds": LEASE_SECONDS})
        if (row := cursor.fetchone()) is None:
            return None
    delivery = WebhookDelivery.objects.select_related("webhook").filter(pk=row[0]).first()
    if delivery is None:
        return None
    key_id = delivery.webhook.api_key_id
    if key_id is not None and not find_open_keys([key_id]):
        given_up = {"due_at": None, "lease_until": None, "status": None, "error": "key_over", "detail": ""}
        WebhookDelivery.objects.filter(pk=delivery.pk, attempt=delivery.attempt).update(**given_up)
        return None
    return _signed(delivery)


def _signed(delivery: WebhookDelivery) -> ClaimedDelivery | None:
    webhook = delivery.webhook
    body = write_event(delivery.public_id, delivery.event_type, delivery.created_at, delivery.data)
    try:
        headers = sign_event(delivery.public_id, body, secret=secret_of(webhook), at=timezone.now())
    except ValueError:
        unsigned = ClaimedDelivery(delivery.pk, webhook.pk, delivery.attempt, webhook.url, b"", {}, is_of_site=False)
        end_delivery(unsigned, WebhookAnswer(error="secret_lost"))
        return None
    return ClaimedDelivery(
        delivery.pk,
        webhook.pk,
        delivery.attempt,
        webhook.url,
        body,
        headers,
        is_of_site=webhook.api_key_id is None,
    )


def secret_of(webhook: Webhook) -> str:
    """Return what *webhook* signs with; blank where it can't be read any more."""
    if webhook.api_key_id is None:
        return str(settings.WEBHOOK_SECRET)
    return decrypt_secret_or_none(webhook.sealed_secret) or ""


def end_delivery(claimed: ClaimedDelivery, answer: WebhookAnswer) -> None:
    """Store how sending *claimed* ended: delivered, to be tried again, or given up.

    A receiver that says that it is gone is sent nothing more. What another process has claimed meanwhile stays its own.
    """
    mine = WebhookDelivery.objects.filter(pk=claimed.id, attempt=claimed.attempt, delivered_at=None)
    said: dict[str, Any] = {
        "lease_until": None,
        "status": answer.status,
        "error": answer.error,
        "detail": answer.detail[:200],
    }
    seconds = seconds_until_retry(claimed.attempt)
    if answer.is_success:
        mine.update(**said, due_at=None, delivered_at=Now())
    elif answer.status == GONE:
        with transaction.atomic():
            mine.update(**said, due_at=None)
            Webhook.objects.filter(pk=claimed.webhook_id, url=claimed.url).update(disabled_at=Now())
            waiting = WebhookDelivery.objects.filter(webhook=claimed.webhook_id, due_at__isnull=False)
            waiting.update(due_at=None, error="disabled")
    elif seconds is None:
        mine.update(**said, due_at=None)
    else:
        later = dt.timedelta(seconds=seconds * (1 + random.uniform(0, JITTER)))  # noqa: S311  # no secret
        mine.update(**said, due_at=timezone.now() + later)


def release_delivery(claimed: ClaimedDelivery) -> None:
    """Let another process send it at once: this one ends, and does not know whether it has come."""
    mine = WebhookDelivery.objects.filter(pk=claimed.id, attempt=claimed.attempt)
    mine.update(lease_until=None, attempt=F("attempt") - 1)


def sweep_webhook_deliveries() -> int:
    """Delete events that are older than some days, whatever became of them."""
    deleted, _ = WebhookDelivery.objects.filter(created_at__lt=timezone.now() - KEPT).delete()
    return deleted
