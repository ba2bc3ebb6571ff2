"""Make the last reply again, as a sibling of the one that is there. Nothing is overwritten."""

from __future__ import annotations

from functools import partial

from django.db import transaction

from chatsite.accounts.models import User
from conversations.access import find_reply, lock_admitted
from conversations.core.errors import MessageExcluded, NothingToRegenerate, ReplyInProgress
from conversations.live.fanout import RUNS, publish
from conversations.models import Conversation, Message
from conversations.services.counting.model_context import model_context
from conversations.services.limits.message_checks import check_regeneration
from conversations.services.windows.active_path import add_reply, leave_path, lock_conversation


def regenerate_reply(*, user: User, conversation: Conversation, reply_id: int) -> Message:
    """Return a new, still empty version of the last reply. Raises `NothingToRegenerate` for any other."""
    with transaction.atomic():
        lock_admitted(user)
        locked = lock_conversation(conversation)
        reply = find_reply(locked, reply_id)
        if not reply.has_ended:
            raise ReplyInProgress
        if locked.head_id != reply.pk or reply.parent is None or reply.parent.role != "user":
            raise NothingToRegenerate
        if reply.parent.excluded:
            raise MessageExcluded
        check_regeneration(user, locked, reply.parent)  # or the old reply would be gone for nothing
        leave_path(locked, reply.first_position, head_id=reply.parent_id)
        sibling = add_reply(locked, reply.parent, model_context(locked.scenario))
        transaction.on_commit(partial(publish, RUNS, "waiting"))
    return sibling
