"""The lease of an account's export: one export of a user at a time, as each reads the database while it is sent.

The lease is a row, so it holds for all processes. An export that is no longer being downloaded loses it after a while.
"""

from __future__ import annotations

import datetime as dt

from django.db.models import QuerySet
from django.db.models.functions import Now

from chatsite.accounts.models import User
from conversations.models import ExportLease

HELD_FOR = dt.timedelta(seconds=60)


class LeaseLost(Exception):
    """An export that was not read for too long breaks off in the middle, so that it can't be taken for whole."""


def take_lease(user: User) -> ExportLease | None:
    """Return the lease for an export of *user*; None while one is being made."""
    ExportLease.objects.filter(user=user, ends_at__lt=Now()).delete()
    lease = ExportLease(user=user, ends_at=Now() + HELD_FOR)
    ExportLease.objects.bulk_create([lease], ignore_conflicts=True)
    return lease if _held(lease).exists() else None


def prolong_lease(lease: ExportLease) -> None:
    """Hold it for longer. Raises `LeaseLost` if another is made by now, or the account is gone."""
    if not _held(lease).update(ends_at=Now() + HELD_FOR):
        raise LeaseLost


def give_lease_back(lease: ExportLease) -> None:
    """Let another export begin. Given back twice, it takes nothing from an export that has begun since."""
    _held(lease).delete()


def _held(lease: ExportLease) -> QuerySet[ExportLease]:
    return ExportLease.objects.filter(user=lease.user_id, token=lease.token)
