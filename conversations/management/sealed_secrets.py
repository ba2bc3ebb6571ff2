"""Sealed secrets that can't be read: the site's `SECRET_KEY` is another one than it was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from allauth.mfa.models import Authenticator

from chatsite.accounts.second_factors.secret_encryption import decrypt_secret_or_none
from conversations.models import McpServer, Share, Webhook
from conversations.models.revocable import is_open_now

NEWEST = 20  # of each kind


@dataclass(frozen=True, slots=True)
class SealedSecrets:
    """How many of the newest in use can't be read with this key, by kind, and how many of all kinds can."""

    unreadable: dict[str, int]
    readable: int

    @property
    def have_another_key(self) -> bool:
        """Whether none can be read. Where some can, the key was changed, and those were sealed since."""
        return bool(self.unreadable) and not self.readable

    def describe(self) -> str:
        return ", ".join(f"{number} {kind}" for kind, number in self.unreadable.items())


def look_at_sealed_secrets() -> SealedSecrets:
    """Return what this key reads of the secrets that are in use: enabled, not revoked, not over."""
    unreadable, readable = {}, 0
    for kind, sealed in _sealed():
        wrong = sum(decrypt_secret_or_none(each) is None for each in sealed)
        readable += len(sealed) - wrong
        if wrong:
            unreadable[kind] = wrong
    return SealedSecrets(unreadable, readable)


def _sealed() -> Iterator[tuple[str, list[str]]]:
    apps = Authenticator.objects.filter(type=Authenticator.Type.TOTP).order_by("-pk").values_list("data", flat=True)
    yield "of second factors", [data["secret"] for data in apps[:NEWEST] if data.get("secret")]
    for kind, rows, field in (
        ("of webhooks", Webhook.objects.filter(disabled_at=None), "sealed_secret"),
        ("of MCP servers", McpServer.objects.filter(enabled=True), "sealed_authorization"),
        ("of shares", Share.objects.filter(is_open_now()), "sealed_token"),
    ):
        newest = rows.exclude(**{field: ""}).order_by("-pk").values_list(field, flat=True)
        yield kind, list(newest[:NEWEST])
