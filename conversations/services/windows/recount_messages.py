"""Count the messages of a conversation in the encoding of its language model, after that has changed."""

from __future__ import annotations

import contextlib

from conversations.core.errors import PolicyFailed, PromptError
from conversations.models import Conversation
from conversations.services.language_models.model_context import conversation_context

from .build_window import build_window, draft_message

SHORTEST = "."


def recount_messages(conversation_id: int) -> None:
    """Count those that the next window looks at, and store their counts. What is beyond is counted when it is sent."""
    found = Conversation.objects.select_related("scenario", "head", "owner")
    if (conversation := found.filter(pk=conversation_id, deleted_at=None).first()) is None:
        return
    context, head = conversation_context(conversation), conversation.head
    draft = draft_message(SHORTEST, position=head.position + 1 if head else 0, context=context)
    with contextlib.suppress(PromptError, PolicyFailed):  # what was read until then is counted and stored
        build_window(conversation, draft)
