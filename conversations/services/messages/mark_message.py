"""Pin a message, so that it is always sent; exclude it, so that it never is; or keep it from being recalled."""

from __future__ import annotations

from functools import partial

from django.db import transaction

from conversations.access import find_message
from conversations.core.errors import MessageExcluded, MessageNotPinnable, MessageTooLong, PinsTooLong, ReplyInProgress
from conversations.core.frames.definitions import MessageMarked
from conversations.live.fanout import publish_frame
from conversations.models import Conversation, Message
from conversations.services.language_models.model_context import conversation_context
from conversations.services.message_index.embed_messages import want_vectors
from conversations.services.summaries.want_summary import summarised_messages_changed
from conversations.services.windows.active_path import lock_conversation, refuse_while_replying
from conversations.services.windows.build_window import check_it_fits, draft_message, stored_message

SHORTEST = "."  # there must be room to go on writing after a pin


def pin_message(*, conversation: Conversation, message_id: int, pinned: bool) -> Message:
    """Pin the message or take its pin away.

    Raises `PinsTooLong` when the pins would leave no room for a message that is being answered or the next one,
    `MessageExcluded`, `MessageNotPinnable`, `ReplyInProgress` for a reply that is still being written,
    `MessageNotFound`.
    """
    with transaction.atomic():
        locked = lock_conversation(conversation)
        message = find_message(locked, message_id)
        if pinned and message.excluded:
            raise MessageExcluded
        if not message.has_ended:
            raise ReplyInProgress
        if pinned and not message.can_be_pinned:
            raise MessageNotPinnable
        _store(message, locked, pinned=pinned)
        conversation.has_pins = locked.has_pins
        if pinned:
            _check_it_leaves_room(locked)
    return message


def _check_it_leaves_room(conversation: Conversation) -> None:
    """Raise `PinsTooLong` unless the shortest message to come still fits, and one that is being answered already."""
    head, context = conversation.head, conversation_context(conversation)
    check_it_fits(conversation, draft_message(SHORTEST, position=head.position + 1 if head else 0, context=context))
    if head is None or head.has_ended:
        return
    try:
        check_it_fits(conversation, stored_message(head.answered_message, context, conversation=conversation))
    except MessageTooLong as error:  # which it was not before there was this pin
        raise PinsTooLong(tokens_over=error.tokens_over) from error


def exclude_message(*, conversation: Conversation, message_id: int, excluded: bool) -> Message:
    """Exclude the message, which takes its pin away, or include it again. A step goes with its reply.

    Raises `ReplyInProgress` while a reply is being written: its request may be repeated, and holds the message.
    """
    with transaction.atomic():
        locked = lock_conversation(conversation)
        message = find_message(locked, message_id)
        message = message.step_of or message  # a call without its result could not be sent
        if excluded:
            refuse_while_replying(locked)
        _store(message, locked, pinned=message.pinned and not excluded, excluded=excluded)
        conversation.has_pins = locked.has_pins
    return message


def recall_message(*, conversation: Conversation, message_id: int, never_recalled: bool) -> Message:
    """Never recall the message once it is out of view, or let it be recalled again. Raises `MessageNotFound`."""
    with transaction.atomic():
        locked = lock_conversation(conversation)
        message = find_message(locked, message_id)
        _store(message, locked, never_recalled=never_recalled)
    return message


def _store(message: Message, conversation: Conversation, **marks: bool) -> None:
    for name, value in marks.items():
        setattr(message, name, value)
    message.save(update_fields=list(marks))
    if "excluded" in marks:
        message.steps.update(excluded=marks["excluded"])
        if marks["excluded"]:
            summarised_messages_changed(conversation.pk, message.position)
    if False in (marks.get("excluded"), marks.get("never_recalled")):
        want_vectors(conversation.pk, message.pk)
    conversation.has_pins = conversation.messages.filter(pinned=True).exists()
    conversation.save(update_fields=["has_pins"])
    decisions = {"pinned": message.pinned, "excluded": message.excluded, "never_recalled": message.never_recalled}
    frame = MessageMarked(conversation.public_id, message.pk, message.position, **decisions)
    transaction.on_commit(partial(publish_frame, frame, conversation.public_id))
