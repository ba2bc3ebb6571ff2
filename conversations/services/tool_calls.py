"""Tool calls as they are stored: before they are run, while they run, and as a step of the reply once all have ended.

calls of a step ──▶ ToolCall rows: asking, ready, or ended at once because they can't be run
begin_call      ──▶ running: one statement, so that nothing is ever run twice
end_call        ──▶ its result, cut to what is kept
store_step      ──▶ the call's and results' messages on the path, the reply behind them
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from conversations.core.errors import ReplyInterrupted, ToolError, TooManyCalls
from conversations.core.history import HistoryMessage
from conversations.core.messages import PromptMessage
from conversations.core.messages import ToolCall as AskedCall
from conversations.core.text import UNSTORABLE
from conversations.core.tools import MOST_CALLS_AT_ONCE, TOOL_NAME, is_object
from conversations.models import Message, ToolCall
from conversations.models.tool_call import ENDED, ToolCallState
from conversations.selectors.history import HistoryRow
from conversations.tools.toolbox import Toolbox

from .language import Language, language_of
from .stored_counts import StoredCounts

LONGEST_RESULT_CHARACTERS = 200_000
UNNAMED = "unknown"
SHORTENED = "\n… (the tool answered with more, which was not kept)"


@dataclass(frozen=True, slots=True)
class ReplySteps:
    """The *steps* of a reply that are stored, oldest first, and the number of the one that it is at, from 1."""

    messages: tuple[HistoryMessage, ...]
    at: int


def steps_of(reply: Message, language: Language) -> ReplySteps:
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
    counts = StoredCounts(language)
    messages = tuple(counts.of(rows))
    counts.store()
    return ReplySteps(messages, 1 + sum(bool(message.message.tool_calls) for message in messages))


def _as_json(tool_calls: list[dict[str, object]]) -> str | None:
    return json.dumps(tool_calls) if tool_calls else None


def store_calls(reply_id: int, *, step: int, calls: Sequence[AskedCall], toolbox: Toolbox) -> list[ToolCall]:
    """Write down what the language model asks for, before any of it is run. What can't be run has ended already."""
    rows = [_row_of(call, index, toolbox) for index, call in enumerate(calls)]
    for row in rows:
        row.reply_id, row.step = reply_id, step
    return ToolCall.objects.bulk_create(rows)


def _row_of(call: AskedCall, index: int, toolbox: Toolbox) -> ToolCall:
    row = ToolCall(index=index, call_id=call.id, tool=call.name[:100], arguments=call.arguments)
    try:
        if index >= MOST_CALLS_AT_ONCE:
            raise TooManyCalls(detail=f"At most {MOST_CALLS_AT_ONCE} may be called at once.")
        tool = toolbox.find(call.name)
        tool.check(call.arguments)
    except ToolError as error:
        row.state, row.error_code, row.result = ToolCallState.FAILED, error.code, error.for_the_model
        return row
    row.source, row.asked = tool.spec.source, tool.spec.asks
    row.digest = tool.spec.digest_of_call(call.arguments)
    row.state = ToolCallState.ASKS if tool.spec.asks else ToolCallState.READY
    return row


def calls_of_step(reply_id: int, step: int) -> list[ToolCall]:
    return list(ToolCall.objects.filter(reply_id=reply_id, step=step).order_by("index"))


def begin_call(call_id: int) -> bool:
    """Say that the call is run now. False if that has been done before, or may not be."""
    ready = ToolCall.objects.filter(pk=call_id, state=ToolCallState.READY)
    return bool(ready.update(state=ToolCallState.RUNNING, started_at=Now()))


def end_call(call_id: int, state: ToolCallState, *, result: str = "", error_code: str = "") -> None:
    """Write down what came of a call, unless it has ended before."""
    running = ToolCall.objects.filter(pk=call_id).exclude(state__in=ENDED)
    running.update(state=state, result=_kept(result), error_code=error_code, ended_at=Now())


def _kept(result: str) -> str:
    cleaned = UNSTORABLE.sub("", result[: LONGEST_RESULT_CHARACTERS + 1])
    if len(result) <= LONGEST_RESULT_CHARACTERS:
        return cleaned
    return cleaned[:LONGEST_RESULT_CHARACTERS] + SHORTENED


def store_step(reply_id: int, *, step: int, text: str) -> None:
    """Put the calls of *step*, all ended, and their results on the path, with the *text* that came before them.

    The reply goes behind them and begins anew. Raises `ReplyInterrupted` if it has ended meanwhile.
    """
    with transaction.atomic():
        reply = _lock_streaming(reply_id)
        language = language_of(reply.conversation.scenario)
        calls = calls_of_step(reply_id, step)
        first = reply.position
        Message.objects.filter(pk=reply_id).update(position=F("position") + 1 + len(calls), content="")
        asked = PromptMessage("assistant", text, None, tuple(map(_as_asked, calls)))
        _store_message(reply, asked, first, language)
        for position, call in enumerate(calls, start=first + 1):
            result = PromptMessage("tool", call.result, tool_call_id=call.call_id)
            message = _store_message(reply, result, position, language)
            ToolCall.objects.filter(pk=call.pk).update(message=message, result="")


def _lock_streaming(reply_id: int) -> Message:
    streaming = Message.objects.select_for_update(of=("self",)).select_related("conversation__scenario")
    if (reply := streaming.filter(pk=reply_id, state="streaming").first()) is None:
        raise ReplyInterrupted
    return reply


def _as_asked(call: ToolCall) -> AskedCall:
    """Return the call as it is sent from now on: providers refuse names and arguments that are none."""
    name = call.tool if TOOL_NAME.fullmatch(call.tool) else UNNAMED
    return AskedCall(call.call_id, name, call.arguments if is_object(call.arguments) else "{}")


def _store_message(reply: Message, message: PromptMessage, position: int, language: Language) -> Message:
    return Message.objects.create(
        conversation_id=reply.conversation_id,
        parent_id=reply.parent_id,
        step_of=reply,
        position=position,
        role=message.role,
        content=message.content,
        tool_calls=[call.to_wire() for call in message.tool_calls],
        tool_call_id=message.tool_call_id or "",
        content_tokens=language.content_tokens(message),
        encoding=language.language_model.encoding,
    )
