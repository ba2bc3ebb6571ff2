"""Messages for exports: all of a conversation, of every version, as plain values, read a few hundred at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from django.db.models import F
from django.db.models.functions import Coalesce

from conversations.models import Completion, Conversation, Message, Rating, Run, ToolCall
from conversations.models.message import MessageState

AT_ONCE = 200
CALL = (
    *("step", "index", "call_id", "tool", "source", "arguments", "state", "error_code", "result", "message_id"),
    *("needs_approval", "created_at", "decided_at", "started_at", "ended_at"),
)

RATING = ("verdict", "remark", "rated_at")


def exported_messages(conversation: Conversation) -> Iterator[dict[str, Any]]:
    """Yield each message in the order in which they were stored, the steps of a reply before it.

    With the requests that were made for it, what a program asked for in it, the calls of tools, and its rating.
    """
    ids = _ids_in_order(conversation)
    for start in range(0, len(ids), AT_ONCE):
        some = ids[start : start + AT_ONCE]
        messages = Message.objects.select_related("rating").in_bulk(some)
        requests, calls = _requests_of(some), _calls_of(some)
        parameters = dict(Run.objects.filter(reply__in=some).values_list("reply", "parameters"))
        for pk in some:
            if pk in messages:  # else it was deleted meanwhile
                yield _values(messages[pk], requests[pk], calls[pk]) | {"parameters": parameters.get(pk, {})}


def _ids_in_order(conversation: Conversation) -> list[int]:
    steps_first = (Coalesce("step_of_id", "pk"), F("step_of_id").asc(nulls_last=True), "position")
    return list(conversation.messages.order_by(*steps_first).values_list("pk", flat=True))


def message_numbers(conversation: Conversation) -> dict[int, int]:
    """Return the place of each message in the order of `exported_messages`, from 1, by its id."""
    return {pk: number for number, pk in enumerate(_ids_in_order(conversation), start=1)}


def numbered_messages(conversation: Conversation, numbers: Mapping[int, int]) -> Iterator[dict[str, Any]]:
    """Yield the same with *numbers* in place of ids, pictures by their digests, and without requests and parameters.

    Of the requests the language model stays, as that of a copied reply. A reply that is still being written is in it as
    one that was interrupted.
    """
    digests = dict(conversation.pictures.values_list("pk", "digest"))
    for message in exported_messages(conversation):
        requests, _ = message.pop("requests"), message.pop("parameters")
        model = message["copied_model"] or (requests[-1]["language_model"] if requests else "")
        references = {name: numbers.get(message[name]) for name in ("id", "follows", "step_of")}
        calls = [call | {"message_id": numbers.get(call["message_id"])} for call in message["calls"]]
        pictures = [digests[pk] for pk in message["pictures"] if pk in digests]
        state = "interrupted" if message["state"] == MessageState.STREAMING else message["state"]
        yield message | references | {"pictures": pictures, "calls": calls, "state": state, "copied_model": model}


def _values(message: Message, requests: list[dict[str, Any]], calls: list[dict[str, Any]]) -> dict[str, Any]:
    rating: Rating | None = getattr(message, "rating", None)
    return {
        "id": message.pk,
        "follows": message.parent_id,
        "step_of": message.step_of_id,
        "position": message.position + 1,
        "shown": message.active,
        "pinned": message.pinned,
        "excluded": message.excluded,
        "never_recalled": message.never_recalled,
        "last_forgotten": message.last_forgotten,
        "role": message.role,
        "name": message.name,
        "state": message.state,
        "error": message.error_code,
        "error_params": message.error_params,
        "created_at": message.created_at,
        "content": message.content,
        "content_tokens": message.content_tokens,
        "encoding": message.encoding,
        "pictures": message.picture_ids,
        "reasoning": message.reasoning,
        "reasoning_tokens": message.reasoning_tokens,
        "reasoning_tokens_estimated": message.reasoning_tokens_estimated,
        "reasoning_seconds": message.reasoning_seconds,
        "grounding": message.grounding,
        "grounding_tokens": message.grounding_tokens,
        "tool_calls": message.tool_calls,
        "tool_call_id": message.tool_call_id,
        "copied_model": message.copied_model,
        "rating": rating and {name: getattr(rating, name) for name in RATING},
        "calls": calls,
        "requests": requests,
    }


def _calls_of(replies: list[int]) -> dict[int, list[dict[str, Any]]]:
    """Return the calls of each reply, also those that were stopped. A result is here while no message has it."""
    calls: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for call in ToolCall.objects.filter(reply__in=replies).order_by("reply", "step", "index"):
        calls[call.reply_id].append({name: getattr(call, name) for name in CALL})
    return calls


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
                "reported_cost_usd": completion.reported_cost_usd,
                "window": completion.window,
            }
        )
    return requests


def known_cost(requests: list[dict[str, Any]]) -> Decimal | None:
    """Return what the requests cost together; None if that is not known of each, or there were none."""
    costs = [request["cost_usd"] for request in requests]
    return sum(costs, Decimal(0)) if costs and None not in costs else None
