"""Make the last reply again, as a sibling of the one that is there. Nothing is overwritten."""

from __future__ import annotations

from functools import partial

from django.db import transaction

from chatsite.accounts.models import User
from conversations.access import find_reply, lock_admitted
from conversations.core.errors import MessageExcluded, NothingToRegenerate, ReplyInProgress
from conversations.live.fanout import RUNS, publish
from conversations.models import Conversation, Message
from conversations.services.language_models.model_choice import find_offered_model
from conversations.services.language_models.model_context import conversation_context
from conversations.services.language_models.reply_reserve import doubled_reserve_tokens, used_up_reserve_tokens
from conversations.services.limits.message_checks import check_regeneration
from conversations.services.windows.active_path import add_reply, leave_path, lock_conversation


def regenerate_reply(
    *, user: User, conversation: Conversation, reply_id: int, more_room: bool = False, language_model: str = ""
) -> Message:
    """Return a new, still empty version of the last reply. Raises `NothingToRegenerate` for any other.

    With *more_room* one whose room was used up by reasoning gets twice as much, for once. *language_model* makes this
    version alone, in place of the conversation's; raises `LanguageModelNotOffered`.
    """
    if language_model:
        find_offered_model(user, language_model)
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
        locked.language_model = language_model or locked.language_model  # not stored: for this reply alone
        own_reserve_tokens = _own_reserve_tokens(locked, reply) if more_room else None
        # Or the old reply would be gone for nothing.
        check_regeneration(user, locked, reply.parent, reply_reserve_tokens=own_reserve_tokens)
        leave_path(locked, reply.first_position, head_id=reply.parent_id)
        sibling = add_reply(locked, reply.parent, conversation_context(locked), reply_reserve_tokens=own_reserve_tokens)
        transaction.on_commit(partial(publish, RUNS, "waiting"))
    return sibling


def _own_reserve_tokens(conversation: Conversation, reply: Message) -> int | None:
    """Return the reserve of another try; None is the scenario's, for a reply that did not need more."""
    return doubled_reserve_tokens(conversation, reply) or used_up_reserve_tokens(reply)
