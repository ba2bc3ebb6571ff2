"""Forget everything above a message: none of it is in a later request. It stays on the page, and can be remembered."""

from __future__ import annotations

from functools import partial

from django.db import transaction

from conversations.access import find_message
from conversations.core.frames.definitions import MessagesForgotten
from conversations.live.fanout import publish_frame
from conversations.models import Conversation, Message
from conversations.services.message_index.embed_messages import want_vectors
from conversations.services.windows.active_path import lock_conversation, refuse_while_replying, update_forgotten


def forget_above(*, conversation: Conversation, message_id: int) -> Message:
    """Send, recall and summarise nothing above the message any more; above a reply its question stays.

    Above a message that is forgotten itself nothing is left to do. Returns the first message that stays. Raises
    `MessageNotFound`, or `ReplyInProgress` while a reply is being written: its request may be repeated.
    """
    with transaction.atomic():
        locked = lock_conversation(conversation)
        message = find_message(locked, message_id)
        message = message.step_of or message
        first = message.answered_message if message.role == "assistant" and message.parent else message
        refuse_while_replying(locked)
        if first.parent_id and first.position > locked.forgotten_before:
            locked.messages.filter(pk=first.parent_id).update(last_forgotten=True)
            _changed(locked)
        conversation.forgotten_before = locked.forgotten_before
    return first


def remember_everything(*, conversation: Conversation) -> None:
    """Take back all that was forgotten of the conversation. Raises `ReplyInProgress` while a reply is being written.

    The next window is chosen without an anchor: the one that is stored stands where the forgotten part ended.
    """
    with transaction.atomic():
        locked = lock_conversation(conversation)
        refuse_while_replying(locked)
        locked.messages.filter(last_forgotten=True).update(last_forgotten=False)
        locked.anchor_position = None
        locked.save(update_fields=["anchor_position"])
        _changed(locked)
        want_vectors(locked.pk)
        conversation.forgotten_before = 0


def _changed(conversation: Conversation) -> None:
    update_forgotten(conversation)
    frame = MessagesForgotten(conversation.public_id, conversation.forgotten_before)
    transaction.on_commit(partial(publish_frame, frame, conversation.public_id))
