"""Keep conversations that would be deleted soon: temporary ones, and those that retention is about to delete."""

from __future__ import annotations

from functools import partial

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from chatsite.accounts.models import User
from conversations.core.errors import ConversationNotFound
from conversations.live.fanout import publish_list_change
from conversations.models import Conversation


def keep_conversation(conversation: Conversation) -> None:
    """Keep a conversation that would be deleted soon: retention counts its days from now on.

    A temporary one is like any other from now on. Raises `ConversationNotFound` if it is over.
    """
    still_there = Q(temporary_until=None) | Q(temporary_until__gt=timezone.now())
    there = Conversation.objects.filter(still_there, pk=conversation.pk, deleted_at=None)
    if not there.update(temporary_until=None, retention_ends_at=None, kept_at=timezone.now()):
        raise ConversationNotFound
    conversation.temporary_until = conversation.retention_ends_at = None
    transaction.on_commit(partial(publish_list_change, conversation.owner_id, [conversation.public_id]))


def keep_all_conversations(user: User) -> int:
    """Keep all of the user's conversations that retention would delete soon. Returns how many."""
    soon = Conversation.objects.filter(owner=user, deleted_at=None, retention_ends_at__isnull=False)
    public_ids = list(soon.values_list("public_id", flat=True))
    kept = soon.update(retention_ends_at=None, kept_at=timezone.now())
    transaction.on_commit(partial(publish_list_change, user.pk, public_ids))
    return kept
