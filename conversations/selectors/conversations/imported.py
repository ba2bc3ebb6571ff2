"""Conversations that an import has brought, and imports of a user."""

from __future__ import annotations

from chatsite.accounts.models import User
from conversations.models import Conversation, ConversationImport

SHOWN = 10


def list_imports(user: User) -> list[ConversationImport]:
    """Return the newest imports of *user*, the newest first."""
    return list(ConversationImport.objects.filter(owner=user).prefetch_related("files").order_by("-pk")[:SHOWN])


def longest_imported(found: ConversationImport, *, limit: int) -> list[Conversation]:
    """Return the longest of the conversations that an import has brought or added to, and that are still there."""
    brought = Conversation.objects.filter(origins__brought_by=found, deleted_at=None).exclude(head=None)
    return list(brought.select_related("head", "scenario", "owner").order_by("-head__position", "pk")[:limit])
