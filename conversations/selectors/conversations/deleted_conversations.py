"""Conversations that their owner has deleted and can still restore: "Recently deleted"."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import TYPE_CHECKING, TypedDict

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from chatsite.accounts.models import User
from conversations.core.errors import ConversationNotFound
from conversations.models import Conversation
from conversations.selectors.retention.holds import HELD

from .list_pages import DELETED, PageEnd, read_page

if TYPE_CHECKING:
    from django_stubs_ext import WithAnnotations

    class Held(TypedDict):
        is_held: bool

    HeldConversation = WithAnnotations[Conversation, Held]
else:
    HeldConversation = Conversation


def kept_after_deletion() -> dt.timedelta:
    return dt.timedelta(days=settings.DELETED_CONVERSATION_DAYS)


def oldest_deletion() -> dt.datetime:
    """Return the moment: what was deleted then or before is to be removed, and can't be restored."""
    return timezone.now() - kept_after_deletion()


def can_be_restored() -> Q:
    """Return the condition: deleted, and not over; one under a legal hold can be restored as long as it is held."""
    return Q(deleted_at__isnull=False) & (Q(deleted_at__gt=oldest_deletion()) | HELD)


def gone_at(conversation: Conversation) -> dt.datetime | None:
    """Return when a deleted one can no longer be restored; None for one that is there."""
    return conversation.deleted_at and conversation.deleted_at + kept_after_deletion()


def list_deleted_conversations(user: User, *, before: PageEnd | None = None, limit: int = 50) -> list[HeldConversation]:
    """Return those that can be restored, last deleted first; *before* asks for the page after that end.

    Temporary ones are not among them: they are to leave no trace. Each says whether it `is_held`.
    """
    found = Conversation.objects.filter(can_be_restored(), owner_id=user.pk, temporary_until=None)
    return read_page(found.annotate(is_held=HELD), before=before, limit=limit, by=DELETED)


def find_deleted_conversation(user: User, public_id: uuid.UUID) -> HeldConversation:
    """Return one that can be restored. Raises `ConversationNotFound` also if it is someone else's."""
    found = Conversation.objects.filter(
        can_be_restored(), owner_id=user.pk, public_id=public_id, temporary_until=None
    ).annotate(is_held=HELD)
    if (conversation := found.first()) is None:
        raise ConversationNotFound
    return conversation
