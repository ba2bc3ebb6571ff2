"""The list of a person's conversations."""

from __future__ import annotations

import datetime as dt

from chatsite.accounts.models import User
from conversations.models import Conversation


def list_conversations(user: User, *, before: dt.datetime | None = None, limit: int = 50) -> list[Conversation]:
    """Return the person's conversations, most recently active first; *before* asks for the next page."""
    found = Conversation.objects.filter(owner_id=user.pk, deleted_at=None)
    if before is not None:
        found = found.filter(last_active_at__lt=before)
    return list(found.order_by("-last_active_at")[:limit])
