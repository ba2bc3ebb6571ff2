"""All messages of a conversation, of every branch, as plain values for a file: read a few hundred at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from conversations.models import Completion, Conversation, Message

AT_ONCE = 200


def exported_messages(conversation: Conversation) -> Iterator[dict[str, Any]]:
    """Yield each message with the requests that were made for it, in the order in which they were stored."""
    ids = list(conversation.messages.order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(ids), AT_ONCE):
        messages = Message.objects.filter(pk__in=ids[start : start + AT_ONCE]).order_by("pk")
        requests = _requests_of([message.pk for message in messages])
        for message in messages:
            yield _values(message, requests[message.pk])


def _values(message: Message, requests: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": message.pk,
        "follows": message.parent_id,
        "position": message.position + 1,
        "shown": message.active,
        "pinned": message.pinned,
        "excluded": message.excluded,
        "role": message.role,
        "state": message.state,
        "error": message.error_code,
        "created_at": message.created_at,
        "content": message.content,
        "content_tokens": message.content_tokens,
        "grounding": message.grounding,
        "grounding_tokens": message.grounding_tokens,
        "tool_calls": message.tool_calls,
        "requests": requests,
    }


def _requests_of(replies: list[int]) -> dict[int | None, list[dict[str, Any]]]:
    requests: dict[int | None, list[dict[str, Any]]] = defaultdict(list)
    for completion in Completion.objects.filter(reply__in=replies).defer("request").order_by("pk"):
        requests[completion.reply_id].append(
            {
                "id": completion.pk,
                "language_model": completion.language_model,
                "input_tokens": completion.input_tokens,
                "cached_input_tokens": completion.cached_input_tokens,
                "output_tokens": completion.output_tokens,
                "cost_usd": completion.cost_usd,
                "window": completion.window,
            }
        )
    return requests


def known_cost(requests: list[dict[str, Any]]) -> Decimal | None:
    """Return what the requests cost together; None if that is not known of each, or there were none."""
    costs = [request["cost_usd"] for request in requests]
    return sum(costs, Decimal(0)) if costs and None not in costs else None
