"""Sealed secrets that can't be read: the site's `SECRET_KEY` is another one than it was."""

from __future__ import annotations

from collections.abc import Iterator

from allauth.mfa.models import Authenticator

from chatsite.accounts.second_factors.secret_encryption import decrypt_secret_or_none
from conversations.models import McpServer, Share, Webhook

NEWEST = 20  # of each kind


def unreadable_secrets() -> dict[str, int]:
    """Return the kinds of sealed secrets, and how many of the newest of each can't be read with this key."""
    found = {kind: sum(decrypt_secret_or_none(each) is None for each in sealed) for kind, sealed in _sealed()}
    return {kind: number for kind, number in found.items() if number}


def _sealed() -> Iterator[tuple[str, list[str]]]:
    apps = Authenticator.objects.filter(type=Authenticator.Type.TOTP).order_by("-pk").values_list("data", flat=True)
    yield "second factors", [data["secret"] for data in apps[:NEWEST] if data.get("secret")]
    for kind, model, field in (
        ("webhooks", Webhook, "sealed_secret"),
        ("MCP servers", McpServer, "sealed_authorization"),
        ("shares", Share, "sealed_token"),
    ):
        rows = model._default_manager.exclude(**{field: ""}).order_by("-pk")
        yield kind, list(rows.values_list(field, flat=True)[:NEWEST])
