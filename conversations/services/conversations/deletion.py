"""Delete conversations, restore them, and delete them permanently: at once or by sweeps. The ledger keeps its amounts.

A deleted conversation can be restored for `DELETED_CONVERSATION_DAYS`; then a sweep deletes its rows. Temporary ones
and those in which nothing was kept are swept without that. What a legal hold keeps is not deleted permanently.
"""

from __future__ import annotations

import datetime as dt
import logging
import uuid
from collections.abc import Collection

from django.db import DatabaseError, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from chatsite.accounts.models import User
from chatsite.postgres.faults import is_outage
from conversations.core.errors import ConversationHeld, ConversationNotFound
from conversations.models import Conversation, Picture
from conversations.selectors.conversations.conversation_list import HOLDS_NOTHING
from conversations.selectors.conversations.deleted_conversations import can_be_restored, oldest_deletion
from conversations.selectors.retention.holds import HELD
from conversations.services.ledger.anonymize_ledger import wait_for_other_deletions
from conversations.services.replies.stop_reply import stop_replies
from conversations.services.windows.active_path import lock_conversation

from .deletion_state import announce_deletion, mark_deleted, mark_restored

logger = logging.getLogger(__name__)
KEPT_UNUSED = dt.timedelta(days=1)
SWEPT_AT_ONCE = 100
DELETED_AT_ONCE = 20  # while their owner waits


def delete_conversation(conversation: Conversation) -> None:
    """Delete the conversation and stop its reply. All pages of its owner are told."""
    with transaction.atomic():
        # A message that is being sent comes before this, or is refused.
        mark_deleted([lock_conversation(conversation)])
    stop_replies([conversation])


def restore_conversation(*, user: User, public_id: uuid.UUID) -> Conversation:
    """Bring the user's deleted conversation back, and return it. Raises `ConversationNotFound` if it is gone."""
    restore_conversations(user, [public_id])
    if (there := Conversation.objects.filter(owner=user, public_id=public_id, deleted_at=None).first()) is None:
        raise ConversationNotFound
    return there


@transaction.atomic
def restore_conversations(user: User, public_ids: Collection[uuid.UUID]) -> None:
    """Bring those of the user's deleted conversations back that are not gone yet."""
    deleted = Conversation.objects.filter(can_be_restored(), owner=user, public_id__in=public_ids)
    mark_restored(list(deleted.select_for_update(no_key=True).order_by("pk")))


def delete_permanently(user: User, public_id: uuid.UUID | None = None) -> None:
    """Delete the user's deleted conversation permanently before its time, or all of them that no legal hold keeps.

    From now on none of them can be restored. The rows of a few are deleted at once, those of others by the next sweeps,
    and of one with a reply that is being stopped once that has ended. Raises `ConversationHeld` if that one is held.
    """
    deleted = Conversation.objects.filter(can_be_restored(), owner=user)
    if public_id is not None:
        deleted = deleted.filter(public_id=public_id)
        if deleted.filter(HELD).exists():
            raise ConversationHeld
    chosen = list(deleted.filter(~HELD).values_list("pk", flat=True))
    if public_id is not None and not chosen:
        raise ConversationNotFound
    over = Conversation.objects.filter(~HELD, pk__in=chosen, deleted_at__isnull=False)
    over.update(deleted_at=oldest_deletion())
    being_stopped = set(over.filter(messages__state="streaming").values_list("pk", flat=True))
    for pk in chosen[:DELETED_AT_ONCE]:
        if pk not in being_stopped:
            _delete_rows(over, pk)


def sweep_deleted_conversations() -> int:
    """Delete the rows of what was deleted long enough ago. Returns of how many.

    Pages that still show one no longer offer to undo the deletion.
    """
    over = Conversation.objects.filter(~HELD, deleted_at__lte=oldest_deletion())
    return sum(_sweep(over, pk) for pk in over.values_list("pk", flat=True)[:SWEPT_AT_ONCE])


def sweep_temporary_conversations() -> int:
    """Delete temporary conversations whose time is over, without a way back. Returns how many.

    One with a reply that is being made waits until that has been stopped, and one under a legal hold until that is
    lifted.
    """
    over = Conversation.objects.filter(~HELD, temporary_until__lt=timezone.now())
    swept = 0
    for conversation in over.order_by("temporary_until")[:SWEPT_AT_ONCE]:
        if not stop_replies([conversation]):
            swept += _sweep(over, conversation.pk)
    return swept


def sweep_unused_conversations() -> int:
    """Delete conversations in which nothing was kept for a day, once their unsent pictures are gone. Returns how many.

    They have never been in the list.
    """
    pictures = Picture.objects.filter(conversation=OuterRef("pk"))
    over = Conversation.objects.filter(
        HOLDS_NOTHING, ~HELD, ~Exists(pictures), last_active_at__lt=timezone.now() - KEPT_UNUSED, deleted_at=None
    )
    pks = over.values_list("pk", flat=True)[:SWEPT_AT_ONCE]
    return sum(_sweep(over, pk, tells_pages=False) for pk in pks)


def _sweep(over: QuerySet[Conversation], pk: int, *, tells_pages: bool = True) -> bool:
    """Delete one conversation. One that the database refuses to delete is tried again; the others go on."""
    try:
        return _delete_rows(over, pk, tells_pages=tells_pages)
    except DatabaseError as error:
        if is_outage(error.__cause__ or error):
            raise
        logger.exception("conversation %d could not be deleted; it will be tried again", pk)
        return False


def _delete_rows(over: QuerySet[Conversation], pk: int, *, tells_pages: bool = True) -> bool:
    """Delete one conversation, unless its owner brings it back at this moment.

    Its pages are told, unless *tells_pages* is false: a page may begin an unused one again under the same id.
    """
    with transaction.atomic():
        wait_for_other_deletions()
        conversation = over.select_for_update(skip_locked=True).filter(pk=pk).first()
        if conversation:
            if tells_pages:
                announce_deletion(conversation, deleted=True, can_be_undone=False)
            conversation.delete()
    return conversation is not None
