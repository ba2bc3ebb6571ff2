"""Forget everything above a message: none of it is in a later request. It stays on the page, and can be remembered."""

from __future__ import annotations

from functools import partial

from django.db import transaction

from conversations.access import find_message
from conversations.core.errors import ReplyInProgress
from conversations.core.frames.definitions import MessagesForgotten
from conversations.live.fanout import publish_frame
from conversations.models import Conversation, Message
from conversations.services.summaries.want_summary import summarised_messages_changed
from conversations.services.windows.active_path import lock_conversation


def forget_above(*, conversation: Conversation, message_id: int) -> Message:
    """Send, recall and summarise nothing above the message any more; above a reply its question stays.

    Returns the first message that stays. Raises `MessageNotFound`, or `ReplyInProgress` while a reply is being written:
    its request may be repeated.
    """
    with transaction.atomic():
        locked = lock_conversation(conversation)
        message = find_message(locked, message_id)
        message = message.step_of or message
        first = message.answered_message if message.role == "assistant" and message.parent else message
        _refuse_while_writing(locked)
        locked.messages.filter(active=True, forgets_above=True).update(forgets_above=False)
        locked.messages.filter(pk=first.pk).update(forgets_above=True)
        _store(locked, first.position)
        conversation.forgotten_before = locked.forgotten_before
    return first


def remember_everything(*, conversation: Conversation) -> None:
    """Take back all that was forgotten of the conversation. Raises `ReplyInProgress` while a reply is being written."""
    with transaction.atomic():
        locked = lock_conversation(conversation)
        _refuse_while_writing(locked)
        locked.messages.filter(forgets_above=True).update(forgets_above=False)
        _store(locked, 0)
        conversation.forgotten_before = 0


def _refuse_while_writing(conversation: Conversation) -> None:
    if conversation.messages.filter(state="streaming").exists():
        raise ReplyInProgress


def _store(conversation: Conversation, forgotten_before: int) -> None:
    conversation.forgotten_before = forgotten_before
    conversation.save(update_fields=["forgotten_before"])
    # A summary stands for all before its end: for forgotten messages, or not for those that are remembered.
    summarised_messages_changed(conversation.pk, 0)
    frame = MessagesForgotten(conversation.public_id, forgotten_before)
    transaction.on_commit(partial(publish_frame, frame, conversation.public_id))
