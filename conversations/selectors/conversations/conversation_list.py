"""The list of a user's conversations."""

from __future__ import annotations

import datetime as dt
import uuid

from django.db.models import Exists, OuterRef, Q

from chatsite.accounts.models import User
from conversations.models import Conversation, Document, Run

# Begun by a picture that has not been sent, or by a message that was refused: nothing in it lasts.
HOLDS_NOTHING = Q(
    ~Exists(Document.objects.filter(conversation=OuterRef("pk"))), head=None, title_is_given=False, notes=""
)


def list_conversations(
    user: User, *, before: dt.datetime | None = None, limit: int = 50, in_title: str = ""
) -> list[Conversation]:
    """Return the user's conversations, most recently active first; *before* asks for the next page.

    One is listed from its first message, document, name or note on; a temporary one is not, unless it is kept. With
    *in_title*, those whose title has it.
    """
    found = Conversation.objects.filter(~HOLDS_NOTHING, owner_id=user.pk, deleted_at=None, temporary_until=None)
    if in_title:
        found = found.filter(title__icontains=in_title)
    if before is not None:
        found = found.filter(last_active_at__lt=before)
    return list(found.order_by("-last_active_at")[:limit])


def conversations_awaiting_approval(owner_id: int) -> tuple[uuid.UUID, ...]:
    """Return the user's conversations in which a tool call awaits approval, of those that are listed."""
    waiting = Run.objects.filter(state="awaiting_approval", reply__conversation__owner_id=owner_id)
    shown = waiting.filter(reply__conversation__deleted_at=None, reply__conversation__temporary_until=None)
    return tuple(shown.order_by("pk").values_list("reply__conversation__public_id", flat=True))
