"""Place and lift legal holds: what is held is not permanently deleted, by retention, by its owner or with the account.

Deletions wait for each other, and a hold waits for them: it finds what it is to hold, or says that it is gone.
"""

from __future__ import annotations

from functools import partial

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from chatsite.accounts.models import User
from conversations.core.errors import ConversationNotFound
from conversations.live.fanout import publish_list_change
from conversations.models import Conversation, LegalHold
from conversations.services.ledger.anonymize_ledger import wait_for_other_deletions


@transaction.atomic
def place_hold(
    *, admin: User, reason: str, user: User | None = None, conversation: Conversation | None = None
) -> LegalHold:
    """Hold the conversation, or all of the user's, also those that are begun later.

    Raises `ConversationNotFound` if it, or the user, has been deleted meanwhile.
    """
    wait_for_other_deletions()
    held = Q(owner=user.pk) if user else Q(pk=conversation.pk if conversation else None)
    is_there = User.objects.filter(pk=user.pk) if user else Conversation.objects.filter(held)
    if not is_there.exists():
        raise ConversationNotFound
    hold = LegalHold.objects.create(
        conversation=conversation if user is None else None,
        conversation_public_id=conversation.public_id if conversation and user is None else None,
        user=user,
        is_of_user=user is not None,
        reason=reason,
        placed_by=admin,
        placed_by_email=admin.email,
    )
    Conversation.objects.filter(held, retention_ends_at__isnull=False).update(retention_ends_at=None)
    if conversation and user is None:
        transaction.on_commit(partial(publish_list_change, conversation.owner_id, [conversation.public_id]))
    return hold


@transaction.atomic
def lift_hold(hold: LegalHold, *, admin: User) -> bool:
    """Lift the hold. Returns False if it was lifted before; of two admins the first one did it.

    Retention tells the owners again before anything goes; what its owner has deleted goes at its own time.
    """
    lifted = LegalHold.objects.filter(pk=hold.pk, lifted_at=None).update(
        lifted_at=timezone.now(), lifted_by=admin, lifted_by_email=admin.email
    )
    return bool(lifted)
