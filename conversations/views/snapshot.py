"""The stored truth of a conversation from a position on, as pages and sockets get it."""

from __future__ import annotations

from typing import Any

from django.template.loader import render_to_string

from conversations.core.frames import ConversationSnapshot
from conversations.models import Completion, Conversation
from conversations.selectors.thread import ThreadMessage, latest_completion, thread_from


def conversation_snapshot(conversation: Conversation, from_position: int) -> ConversationSnapshot:
    """Return what is stored from *from_position* on: each message with the HTML that the page itself would show.

    Of very many messages it holds the newest, and says from which position on.
    """
    page = thread_from(conversation, from_position)
    return ConversationSnapshot(
        conversation=conversation.public_id,
        from_position=max(from_position, page.first_position),
        title=conversation.title,
        messages=tuple(_message(conversation, message) for message in page.messages),
        window=window_summary(latest_completion(conversation)),
    )


def window_summary(completion: Completion | None) -> dict[str, Any]:
    """Return the newest window's figures for the page's meter; empty before the first reply."""
    if completion is None:
        return {}
    record = completion.window
    return {name: record[name] for name in ("prompt_tokens", "budget_tokens", "first_position", "language_model")}


def _message(conversation: Conversation, message: ThreadMessage) -> dict[str, Any]:
    html = render_to_string("conversations/_message.html", {"message": message, "conversation": conversation})
    return {
        "id": message.pk,
        "position": message.position,
        "role": message.role,
        "state": message.state,
        "html": html,
        "length": message.length,
    }
