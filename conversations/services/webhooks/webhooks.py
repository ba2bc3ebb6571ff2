"""Set, test and remove the webhooks of API keys, and keep that of the site as the settings say."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import NamedTuple

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from chatsite.accounts.second_factors.secret_encryption import encrypt_secret
from conversations.core.api.webhook_events import SECRET_BYTES, TEST, write_secret
from conversations.models import ApiKey, Webhook, WebhookDelivery
from conversations.providers.clients.webhooks import webhook_destination

MOST_LISTED = 10


class SetWebhook(NamedTuple):
    """A webhook, and its secret if that is new: it can't be shown again."""

    webhook: Webhook
    secret: str | None


def set_webhook(key: ApiKey, url: str, *, new_secret: bool = False) -> SetWebhook:
    """Let *key* have a webhook at *url*, switched on. Raises `EgressRefused` for an address that is never sent to."""
    webhook_destination(url, named_hosts=settings.WEBHOOK_HOSTS)
    with transaction.atomic():
        ApiKey.objects.select_for_update(no_key=True).get(pk=key.pk)
        webhook = find_webhook(key)
        secret = None
        if webhook is None or new_secret:
            secret = write_secret(secrets.token_bytes(SECRET_BYTES))
        values = {"url": url, "disabled_at": None} | ({"sealed_secret": encrypt_secret(secret)} if secret else {})
        webhook, _ = Webhook.objects.update_or_create(api_key=key, defaults=values)
    return SetWebhook(webhook, secret)


def find_webhook(key: ApiKey) -> Webhook | None:
    """Return the webhook of *key*, None where it has none."""
    return Webhook.objects.filter(api_key=key).first()


def remove_webhook(key: ApiKey) -> None:
    """Send nothing any more of what *key* asks for; what waits to be sent goes too."""
    for webhook in Webhook.objects.filter(api_key=key):
        webhook.delete()


def send_test(webhook: Webhook) -> bool:
    """Let a test event be sent, and switch the webhook on. Returns False while another one waits to be sent."""
    Webhook.objects.filter(pk=webhook.pk).update(disabled_at=None)
    with transaction.atomic():
        Webhook.objects.select_for_update(no_key=True).get(pk=webhook.pk)
        if webhook.deliveries.filter(event_type=TEST, due_at__isnull=False, attempt=0).exists():
            return False
        now = timezone.now()
        webhook.deliveries.filter(event_type=TEST, due_at__isnull=False).update(due_at=None, error="superseded")
        WebhookDelivery.objects.create(
            webhook=webhook, event_type=TEST, data={"id": "test"}, created_at=now, due_at=now
        )
    return True


def list_deliveries(webhook: Webhook) -> list[WebhookDelivery]:
    """Return the newest events, the newest first."""
    return list(webhook.deliveries.order_by("-pk")[:MOST_LISTED])


def newest_deliveries(keys: Iterable[ApiKey]) -> dict[int, WebhookDelivery]:
    """Return the newest event of the webhooks of *keys*, by the number of the key."""
    newest = (
        WebhookDelivery.objects.filter(webhook__api_key__in=keys).order_by("webhook_id", "-pk").distinct("webhook_id")
    )
    return {each.webhook.api_key_id: each for each in newest.select_related("webhook") if each.webhook.api_key_id}


def keep_site_webhook() -> None:
    """Store the address that the settings name for the whole site, or that there is none."""
    url = settings.WEBHOOK_URL
    stored = Webhook.objects.filter(api_key=None).first()
    if not url:
        if stored:
            stored.delete()
    elif stored is None or stored.url != url:
        Webhook.objects.update_or_create(api_key=None, defaults={"url": url, "disabled_at": None})
