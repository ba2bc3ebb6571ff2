"""Conversations that their owner has deleted and can still restore: "Recently deleted"."""

from __future__ import annotations

import datetime as dt
import uuid

from django.conf import settings
from django.utils import timezone

from chatsite.accounts.models import User
from conversations.core.errors import ConversationNotFound
from conversations.models import Conversation

from .list_pages import DELETED, PageEnd, read_page


def kept_after_deletion() -> dt.timedelta:
    return dt.timedelta(days=settings.DELETED_CONVERSATION_DAYS)


def oldest_deletion() -> dt.datetime:
    """Return the moment: what was deleted then or before is to be removed, and can't be restored."""
    return timezone.now() - kept_after_deletion()


def gone_at(conversation: Conversation) -> dt.datetime | None:
    """Return when a deleted one can no longer be restored; None for one that is there."""
    return conversation.deleted_at and conversation.deleted_at + kept_after_deletion()


def list_deleted_conversations(user: User, *, before: PageEnd | None = None, limit: int = 50) -> list[Conversation]:
    """Return those that can be restored, last deleted first; *before* asks for the page after that end.

    Temporary ones are not among them: they are to leave no trace.
    """
    found = Conversation.objects.filter(owner_id=user.pk, deleted_at__gt=oldest_deletion(), temporary_until=None)
    return read_page(found, before=before, limit=limit, by=DELETED)


def find_deleted_conversation(user: User, public_id: uuid.UUID) -> Conversation:
    """Return one that can be restored. Raises `ConversationNotFound` also if it is someone else's."""
    found = Conversation.objects.filter(
        owner_id=user.pk, public_id=public_id, deleted_at__gt=oldest_deletion(), temporary_until=None
    )
    if (conversation := found.first()) is None:
        raise ConversationNotFound
    return conversation
