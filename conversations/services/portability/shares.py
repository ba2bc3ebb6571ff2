"""Manage shares: their links, their ends, and how often they were opened."""

from __future__ import annotations

import datetime as dt

from django.conf import settings
from django.db.models import F
from django.urls import reverse
from django.utils import timezone

from chatsite.accounts.second_factors.secret_encryption import decrypt_secret_or_none
from conversations.models import Share


def link_of(share: Share) -> str:
    """Return the link, to be copied again; blank if it was made with another `SECRET_KEY`: it still works."""
    token = decrypt_secret_or_none(share.sealed_token)
    return f"{settings.SITE_URL}{reverse('conversations:shared', args=[token])}" if token else ""


def revoke_share(share: Share) -> None:
    """Revoke the share: its link opens nothing from now on."""
    Share.objects.filter(pk=share.pk, revoked_at=None).update(revoked_at=timezone.now())


def change_end(share: Share, ends_at: dt.datetime | None) -> None:
    """Store when the share ends; None for never by itself."""
    Share.objects.filter(pk=share.pk).update(ends_at=ends_at)


def count_opening(share: Share) -> None:
    """Count that the share was opened. Nothing is stored of who opened it."""
    Share.objects.filter(pk=share.pk).update(opened=F("opened") + 1)
