"""Edit a message: store a new version beside the old one, of which nothing is overwritten or deleted."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from django.db import transaction

from chatsite.accounts.models import User
from conversations.access import find_message, lock_admitted
from conversations.core.errors import MessageNotEditable
from conversations.models import Conversation, Message
from conversations.services.titles.want_title import want_title_again
from conversations.services.windows.active_path import leave_path, lock_conversation

from .post_message import PostedMessage, count_ahead, find_posted, store_checked


def edit_message(
    *,
    user: User,
    conversation: Conversation,
    message_id: int,
    content: str,
    client_id: uuid.UUID,
    pictures: Sequence[int] | None = None,
) -> PostedMessage:
    """Store *content* as a new version of a user message, with a reply to be made, in one transaction.

    The old version and all that follows it leave the path. Marks stay with the version that they were made on, and
    grounding is looked up again. *pictures* are ids; None keeps those of the old version. The same *client_id* is the
    same version. Raises as `post_message` does, `MessageNotFound` or `MessageNotEditable`; then all is as it was.
    """
    count_ahead(content, conversation)
    with transaction.atomic():
        lock_admitted(user)
        locked = lock_conversation(conversation)
        if found := find_posted(locked, client_id):
            return found
        edited = find_editable(locked, message_id)
        leave_path(locked, edited.position, head_id=edited.parent_id)
        untitle(locked, edited)
        if edited.parent_id is None:
            want_title_again(locked)
        kept = edited.picture_ids if pictures is None else pictures
        return store_checked(locked, user=user, content=content, client_id=client_id, pictures=kept)


def find_editable(conversation: Conversation, message_id: int) -> Message:
    """Return a message that is shown and that a user wrote. Raises `MessageNotFound` or `MessageNotEditable`."""
    message = find_message(conversation, message_id)
    if message.role != "user":
        raise MessageNotEditable
    return message


def untitle(conversation: Conversation, first: Message) -> None:
    """Forget the title of a conversation whose first message *first* was, unless a person wrote the title."""
    if first.parent_id is None and not conversation.title_is_given:
        conversation.title = ""
