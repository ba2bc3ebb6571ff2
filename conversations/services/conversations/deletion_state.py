"""The deletion state of conversations: the one place that writes `deleted_at`, and tells the pages of their owners.

Deletions by owners and by retention come here, restoring too. Callers have locked the rows in a transaction.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone

from conversations.core.frames.definitions import ConversationDeleted
from conversations.live.fanout import person_topic, publish
from conversations.models import Conversation


def mark_deleted(conversations: Collection[Conversation], *, by_retention: bool = False) -> None:
    """Move conversations to "Recently deleted"."""
    state = {"deleted_at": timezone.now(), "deleted_by_retention": by_retention, "retention_ends_at": None}
    _store(conversations, state)
    for conversation in conversations:
        announce_deletion(conversation, deleted=True, can_be_undone=True)


def mark_restored(conversations: Collection[Conversation], *, is_touch: bool = True) -> None:
    """Bring deleted conversations back. Retention counts their days from now on if this *is_touch*."""
    state: dict[str, Any] = {"deleted_at": None, "deleted_by_retention": False, "retention_ends_at": None}
    _store(conversations, state | ({"kept_at": timezone.now()} if is_touch else {}))
    for conversation in conversations:
        announce_deletion(conversation, deleted=False, can_be_undone=False)


def announce_deletion(conversation: Conversation, *, deleted: bool, can_be_undone: bool) -> None:
    """Tell all pages of the owner, once that is stored, whether the conversation is there."""
    frame = ConversationDeleted(conversation.public_id, deleted, can_be_undone)
    transaction.on_commit(partial(publish, person_topic(conversation.owner_id), frame.to_json()))


def _store(conversations: Collection[Conversation], state: dict[str, Any]) -> None:
    Conversation.objects.filter(pk__in=[each.pk for each in conversations]).update(**state)
