"""Put a deletion by retention off: what its owner opens is not deleted on the same day."""

from __future__ import annotations

import datetime as dt

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from conversations.core.errors import ConversationNotFound
from conversations.models import Conversation
from conversations.services.conversations.deletion_state import mark_restored

OPEN_FOR = dt.timedelta(days=1)


def put_off_deletion(conversation: Conversation) -> None:
    """Let a conversation that its owner has just found stay for a day at least: it is read, exported or written in.

    It was there when it was found, so one that retention has deleted since is brought back. Raises
    `ConversationNotFound` if its owner has deleted it. This is no touch: the days begin again with a message, or when
    its owner keeps it.
    """
    earliest = timezone.now() + OPEN_FOR
    if conversation.retention_ends_at is None or conversation.retention_ends_at >= earliest:
        return
    with transaction.atomic():
        there = Q(deleted_at=None) | Q(deleted_by_retention=True)
        locked = Conversation.objects.select_for_update(no_key=True).filter(there, pk=conversation.pk).first()
        if locked is None:
            raise ConversationNotFound
        if locked.deleted_at:
            mark_restored([locked], is_touch=False)
        elif locked.retention_ends_at is None:  # touched meanwhile
            conversation.retention_ends_at = None
            return
        conversation.retention_ends_at = max(earliest, locked.retention_ends_at or earliest)
        Conversation.objects.filter(pk=locked.pk).update(retention_ends_at=conversation.retention_ends_at)
