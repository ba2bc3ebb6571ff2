"""A clock for tests of retention: the time that passes is taken off all stored moments."""

from __future__ import annotations

import datetime as dt

from django.db.models import F

from conversations.models import Conversation

MOMENTS = ("last_active_at", "kept_at", "retention_ends_at", "deleted_at", "temporary_until")


def pass_days(days: float) -> None:
    """Make all conversations so many days older."""
    time = dt.timedelta(days=days)
    Conversation.objects.update(**{name: F(name) - time for name in MOMENTS})
