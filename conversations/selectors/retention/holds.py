"""Legal holds in force: whether a conversation is held, and the holds that a user is told of."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Q, QuerySet

from chatsite.accounts.models import User
from conversations.models import Conversation, LegalHold

IN_FORCE = LegalHold.objects.filter(lifted_at=None)
# The condition of a conversation that is held, by itself or with all of its owner's.
HELD = Q(Exists(IN_FORCE.filter(conversation=OuterRef("pk")))) | Q(Exists(IN_FORCE.filter(user=OuterRef("owner_id"))))


def holds_on(conversation: Conversation) -> QuerySet[LegalHold]:
    """Return the holds that keep this conversation, newest first."""
    return IN_FORCE.filter(Q(conversation=conversation.pk) | Q(user=conversation.owner_id))


def holds_about(user_id: int) -> QuerySet[LegalHold]:
    """Return the holds on the user, or on conversations of the user, newest first."""
    return IN_FORCE.filter(Q(user=user_id) | Q(conversation__owner=user_id)).select_related("conversation")


def is_anything_held(user: User) -> bool:
    return holds_about(user.pk).exists()
