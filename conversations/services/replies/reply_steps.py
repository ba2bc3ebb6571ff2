"""The steps of a reply: what its tools were asked and have answered, as messages before it on the path.

user · [assistant with calls · result · result …] · [assistant with calls · result …] · the reply
        step 1, and step 2, all of them `step_of` the reply, which moves behind each
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet

from conversations.core.errors import ReplyInterrupted
from conversations.core.prompt.messages import PromptMessage
from conversations.core.prompt.messages import ToolCall as AskedCall
from conversations.core.tools.tool_spec import TOOL_NAME, is_object
from conversations.core.window.history import HistoryMessage
from conversations.models import Message, ToolCall
from conversations.selectors.conversations.history import HistoryRow
from conversations.services.counting.model_context import ModelContext, model_context
from conversations.services.windows.active_path import lock_streaming
from conversations.services.windows.build_window import StoredCounts

from .tool_calls import calls_of_step

UNNAMED = "unknown"


@dataclass(frozen=True, slots=True)
class ReplySteps:
    """The steps of a reply that are stored, as *messages*, oldest first; it is *at* the one behind them, from 1."""

    messages: tuple[HistoryMessage, ...]
    at: int


def steps_of(reply: Message, context: ModelContext) -> ReplySteps:
    """Return what the tools of *reply* were asked and have answered so far."""
    if reply.position == reply.first_position:
        return ReplySteps((), 1)
    rows = [
        HistoryRow(
            id=row.pk,
            position=row.position,
            role=row.role,
            content=row.content,
            content_tokens=row.content_tokens,
            encoding=row.encoding,
            tool_calls=_as_json(row.tool_calls),
            tool_call_id=row.tool_call_id,
        )
        for row in reply.steps.order_by("position")
    ]
    counts = StoredCounts(context)
    messages = tuple(counts.of(rows))
    counts.store()
    return ReplySteps(messages, 1 + sum(bool(message.message.tool_calls) for message in messages))


def _as_json(tool_calls: list[dict[str, object]]) -> str | None:
    return json.dumps(tool_calls) if tool_calls else None


def store_step(reply_id: int, *, step: int, text: str) -> int:
    """Put the calls of *step*, all ended, and their results on the path, with the *text* that came before them.

    The reply goes behind them and begins anew; returns its position. Raises `ReplyInterrupted` if it has ended.
    """
    reply = _streaming(reply_id).first()
    calls = calls_of_step(reply_id, step)
    if reply is None or not calls:
        raise ReplyInterrupted
    if calls[0].message_id is not None:
        return reply.position
    messages = _messages_of(reply, calls, text)  # counted before anything is locked: results may be long
    with transaction.atomic():
        lock_streaming(reply_id)
        position = reply.position + len(messages)
        Message.objects.filter(pk=reply_id).update(position=position, content="")
        _, *results = Message.objects.bulk_create(messages)
        for call, result in zip(calls, results, strict=True):
            call.message, call.result = result, ""
        ToolCall.objects.bulk_update(calls, ["message", "result"])
    return position


def _streaming(reply_id: int) -> QuerySet[Message]:
    return Message.objects.select_related("conversation__scenario").filter(pk=reply_id, state="streaming")


def _messages_of(reply: Message, calls: Sequence[ToolCall], text: str) -> list[Message]:
    """Return a step as messages in the reply's place: the calls, and a result for each."""
    context = model_context(reply.conversation.scenario)
    asked = PromptMessage("assistant", text, tool_calls=tuple(map(as_asked, calls)))
    results = [PromptMessage("tool", call.result, tool_call_id=call.call_id) for call in calls]
    placed = enumerate([asked, *results], start=reply.position)
    return [_row_of_message(reply, message, position, context) for position, message in placed]


def as_asked(call: ToolCall) -> AskedCall:
    """Return the call as it is sent from now on: providers refuse names and arguments that are none."""
    name = call.tool if TOOL_NAME.fullmatch(call.tool) else UNNAMED
    return AskedCall(call.call_id, name, call.arguments if is_object(call.arguments) else "{}")


def _row_of_message(reply: Message, message: PromptMessage, position: int, context: ModelContext) -> Message:
    return Message(
        conversation_id=reply.conversation_id,
        parent_id=reply.parent_id,
        step_of=reply,
        position=position,
        role=message.role,
        content=message.content,
        tool_calls=[call.to_wire() for call in message.tool_calls],
        tool_call_id=message.tool_call_id or "",
        content_tokens=context.content_tokens(message),
        encoding=context.language_model.encoding,
    )
