"""People and conversations for tests: Alice and Bob talk, Charlie must see nothing of it."""

from __future__ import annotations

import uuid
from typing import Any

from chatsite.accounts.models import User
from conversations.models import Conversation, Message
from conversations.services.conversations.conversations import start_conversation
from conversations.services.messages.post_message import PostedMessage, post_message
from conversations.services.replies.end_reply import COMPLETE, end_reply

PASSWORD = "correct-horse-battery"


def make_user(name: str, **fields: Any) -> User:
    """Return a person without a password: hashing one takes longer than most tests."""
    return User.objects.create_user(f"{name}@example.org", name=name.title(), **fields)


def begin(user: User) -> Conversation:
    return start_conversation(user=user, public_id=uuid.uuid4())


def post(conversation: Conversation, content: str, **fields: Any) -> PostedMessage:
    """Post *content* as the conversation's owner."""
    fields.setdefault("client_id", uuid.uuid4())
    return post_message(user=conversation.owner, conversation=conversation, content=content, **fields)


def post_answered(
    conversation: Conversation, content: str = "Hello", *, reply: str = "Fine", **fields: Any
) -> PostedMessage:
    """Post *content* to the conversation as it is now, and end its *reply*."""
    now = Conversation.objects.select_related("scenario").get(pk=conversation.pk)
    posted = post(now, content, **fields)
    end_reply(posted.reply.pk, COMPLETE, content=reply)
    return posted


def path_of(conversation: Conversation) -> list[tuple[str, str, str]]:
    """Return role, state and content of the active messages, oldest first."""
    path = Message.objects.filter(conversation=conversation, active=True).order_by("position")
    return [(message.role, message.state, message.content) for message in path]
