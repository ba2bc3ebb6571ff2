"""Who may do what to which object: the one place that pages, sockets and the admin ask.

Someone else's object is not found. Children are fetched through their parent, so whoever holds a conversation that came
from here may read and write all of it.
"""

from __future__ import annotations

import uuid

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from conversations.core.errors import ConversationNotFound, MessageNotFound, SignInRequired
from conversations.models import Conversation, Message

Person = AbstractBaseUser | AnonymousUser


def require_active(user: Person) -> None:
    """Raise `SignInRequired` unless *user* has an account that may be used."""
    if not (user.is_authenticated and user.is_active):
        raise SignInRequired


def find_conversation(user: Person, public_id: uuid.UUID) -> Conversation:
    """Return the conversation that *user* owns. Raises `ConversationNotFound` also if it is someone else's."""
    require_active(user)
    found = (
        Conversation.objects.select_related("scenario", "owner")
        .filter(public_id=public_id, owner_id=user.pk, deleted_at=None)
        .first()
    )
    if found is None:
        raise ConversationNotFound
    return found


def find_reply(conversation: Conversation, reply_id: int) -> Message:
    """Return a reply of *conversation*, active or not. Raises `ConversationNotFound` if it has no such reply."""
    found = conversation.messages.filter(pk=reply_id, role="assistant").first()
    if found is None:
        raise ConversationNotFound
    return found


def find_message(conversation: Conversation, message_id: int) -> Message:
    """Return a message that *conversation* shows. Raises `MessageNotFound` if it has no such message."""
    found = conversation.messages.filter(pk=message_id, active=True).first()
    if found is None:
        raise MessageNotFound
    return found
