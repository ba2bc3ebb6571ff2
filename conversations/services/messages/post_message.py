"""Store a user message with its empty reply, then announce both. What was acknowledged is never lost."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from chatsite.accounts.models import User
from conversations.access import lock_admitted
from conversations.models import Conversation
from conversations.services.windows.active_path import lock_conversation

from .user_message import PostedMessage, add_question, find_posted


def post_message(
    *,
    user: User,
    conversation: Conversation,
    content: str,
    client_id: uuid.UUID,
    grounding: Sequence[Mapping[str, Any]] = (),
) -> PostedMessage:
    """Store *content* and a reply to be made, in one transaction. The same *client_id* is the same message.

    *grounding* is what was looked up for this message, best first: `{"text", "source", "score"}`. Raises an
    `InputError`, `PromptError` or `AccessError` before anything is stored.
    """
    with transaction.atomic():
        lock_admitted(user)
        locked = lock_conversation(conversation)
        if found := find_posted(locked, client_id):
            return found
        return add_question(locked, user=user, content=content, client_id=client_id, grounding=grounding)
