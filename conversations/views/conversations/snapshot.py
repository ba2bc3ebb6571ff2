"""Snapshots: the stored messages of a conversation from a position on, as pages and sockets get them."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.template.loader import render_to_string

from chatsite.health.readiness import is_redis_away
from chatsite.postgres.compiled_queryset import compiled_queryset
from conversations.core.frames.definitions import ConversationSnapshot
from conversations.live.redis_breaker import redis_breaker
from conversations.live.redis_echo import redis_echo
from conversations.models import Conversation, Message
from conversations.selectors.conversations.conversation_list import active_conversations
from conversations.selectors.conversations.thread import thread_from
from conversations.selectors.conversations.window import last_window
from conversations.selectors.conversations.window_coverage import current_coverage
from conversations.wording.error_sentences import ReaderLocale

from .draw_messages import DrawnMessage, draw_messages
from .model_menu import model_key
from .page_context import costs_context
from .render_messages import render_thread_page
from .window_context import window_summary


def conversation_snapshot(
    conversation: Conversation, from_position: int, *, reader: ReaderLocale
) -> ConversationSnapshot:
    """Return what is stored from *from_position* on: each message with the HTML that the page itself would show.

    Of very many messages it holds the newest, and says from which position on.
    """
    with reader.activated():
        return _snapshot(conversation, from_position, reader)


def _snapshot(conversation: Conversation, from_position: int, reader: ReaderLocale) -> ConversationSnapshot:
    record = last_window(conversation)
    coverage = current_coverage(conversation, record)
    page = thread_from(conversation, from_position)
    rendered = render_thread_page(page, reader=reader, coverage=coverage)
    active = active_conversations(conversation.owner_id)
    return ConversationSnapshot(
        conversation=conversation.public_id,
        from_position=max(from_position, page.first_position),
        parent=page.messages[0].parent_id if page.messages else _message_before(conversation, from_position),
        title="" if conversation.is_temporary else conversation.title,
        messages=tuple(_message(drawn) for drawn in draw_messages(conversation, rendered, reader=reader)),
        window=window_summary(record, coverage) if record else {},
        costs=render_to_string("conversations/_costs.html", costs_context(conversation)),
        model_key=model_key(conversation),
        awaiting_approval=tuple(each.public_id for each in active if each.awaits_approval),
        writing=tuple(each.public_id for each in active if not each.awaits_approval),
        live=redis_echo.hears and not (redis_breaker.is_open or is_redis_away()),
    )


def _message_before(conversation: Conversation, position: int) -> int | None:
    return _messages_at.first(conversation.pk, position - 1)


@compiled_queryset
def _messages_at(conversation_id: int, position: int) -> QuerySet[Message, int]:
    return Message.objects.filter(conversation_id=conversation_id, active=True, position=position).values_list(
        "pk", flat=True
    )


def _message(drawn: DrawnMessage) -> dict[str, Any]:
    message = drawn.message
    return {
        "id": message.pk,
        "position": message.position,
        "role": message.role,
        "state": message.state,
        "html": drawn.html,
        "length": message.length,
    }
