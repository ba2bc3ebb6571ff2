"""Tool calls as they are stored: before they are run, while they run, and as a step of the reply once all have ended.

calls of a step ──▶ ToolCall rows: asking, ready, or ended at once because they can't be run
begin_call      ──▶ running: one statement, so that nothing is ever run twice; or the result of the same call before
end_call        ──▶ its result, cut to what is kept
store_step      ──▶ the call's and results' messages on the path, the reply behind them

All but `begin_call` may be done twice, by somebody who did not hear whether it was done.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

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

logger = logging.getLogger(__name__)
LONGEST_NAME_CHARACTERS = 100
LONGEST_ARGUMENTS_CHARACTERS = 100_000
LONGEST_RESULT_CHARACTERS = 200_000
REPEATED_CHARACTERS = 200
UNNAMED = "unknown"
SAME_AS_BEFORE = "This is the same call as before, so it was not run again, and its result is the same:"
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
    """Write down what the language model asks for, before any of it is run. What can't be run has ended already.

    Of calls above the limit, one row says how many were left out. Raises `ReplyInterrupted` if the reply has ended.
    """
    rows = [_row_of(call, toolbox) for call in calls[:MOST_CALLS_AT_ONCE]]
    if left_out := len(calls) - len(rows):
        rows.append(_row_of_left_out(calls[len(rows)], left_out))
    for index, row in enumerate(rows):
        row.reply_id, row.step, row.index = reply_id, step, index
    with transaction.atomic():
        _lock_streaming(reply_id)
        return calls_of_step(reply_id, step) or ToolCall.objects.bulk_create(rows)


def _row_of(call: AskedCall, toolbox: Toolbox) -> ToolCall:
    row = _unchecked_row(call)
    try:
        tool = toolbox.find(call.name)
        tool.check(row.arguments)
        row.digest = tool.spec.digest_of_call(row.arguments)
    except ToolError as error:
        return _failed(row, error)
    except Exception as error:  # whatever is wrong with a tool, the reply goes on
        logger.exception("the arguments of the tool %s could not be checked", call.name)
        return _failed(row, ToolError(detail=type(error).__name__))
    row.source, row.asked = tool.spec.source, tool.spec.asks
    row.state = ToolCallState.ASKS if tool.spec.asks else ToolCallState.READY
    return row


def _row_of_left_out(first: AskedCall, count: int) -> ToolCall:
    """Return the row of the *first* call that was one too many. It stands for all of them: nobody reads hundreds."""
    limit = f"At most {MOST_CALLS_AT_ONCE} may be called at once; {count} were left out."
    return _failed(_unchecked_row(first), TooManyCalls(detail=limit))


def _unchecked_row(call: AskedCall) -> ToolCall:
    """Return the row of a call. Arguments that are too long to be kept are JSON no more."""
    arguments = call.arguments[:LONGEST_ARGUMENTS_CHARACTERS]
    return ToolCall(call_id=call.id, tool=call.name[:LONGEST_NAME_CHARACTERS], arguments=arguments)


def _failed(row: ToolCall, error: ToolError) -> ToolCall:
    row.state, row.error_code, row.result = ToolCallState.FAILED, error.code, error.for_the_model
    row.ended_at = timezone.now()
    return row


def calls_of_step(reply_id: int, step: int) -> list[ToolCall]:
    return list(ToolCall.objects.filter(reply_id=reply_id, step=step).order_by("index"))


def begin_call(call: ToolCall) -> bool:
    """Say that the call is run now. False if that has been done before, or may not be, or need not.

    It need not where the same was called before in the same reply, and nothing asks: then it ends as that one did.
    """
    if before := _same_before(call):
        end_call(call.pk, before.state, result=_repeated(before), error_code=before.error_code)
        return False
    ready = ToolCall.objects.filter(pk=call.pk, state=ToolCallState.READY)
    return bool(ready.update(state=ToolCallState.RUNNING, started_at=Now()))


def _same_before(call: ToolCall) -> ToolCall | None:
    """Return the first call of the same tool with the same arguments that has a result.

    What failed in an earlier step is worth another try, in the same step it is not.
    """
    if call.asked:
        return None
    same = ToolCall.objects.filter(reply_id=call.reply_id, digest=call.digest, asked=False).select_related("message")
    succeeded = Q(step__lt=call.step, state=ToolCallState.SUCCEEDED)
    beside = Q(step=call.step, index__lt=call.index, state__in=ENDED)
    return same.filter(succeeded | beside).order_by("step", "index").first()


def _repeated(before: ToolCall) -> str:
    """Return what came of a call in short: it is in the window already."""
    result = before.message.content if before.message else before.result
    if before.state != ToolCallState.SUCCEEDED:
        return result
    shown = result if len(result) <= REPEATED_CHARACTERS else f"{result[:REPEATED_CHARACTERS]} …"
    return f"{SAME_AS_BEFORE}\n{shown}"


def end_call(call_id: int, state: ToolCallState | str, *, result: str = "", error_code: str = "") -> None:
    """Write down what came of a call, unless it has ended before."""
    running = ToolCall.objects.filter(pk=call_id).exclude(state__in=ENDED)
    running.update(state=state, result=_kept(result), error_code=error_code, ended_at=Now())


def _kept(result: str) -> str:
    cleaned = UNSTORABLE.sub("", result[: LONGEST_RESULT_CHARACTERS + 1])
    if len(result) <= LONGEST_RESULT_CHARACTERS:
        return cleaned
    return cleaned[:LONGEST_RESULT_CHARACTERS] + SHORTENED


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
        _lock_streaming(reply_id)
        position = reply.position + len(messages)
        Message.objects.filter(pk=reply_id).update(position=position, content="")
        _, *results = Message.objects.bulk_create(messages)
        for call, result in zip(calls, results, strict=True):
            call.message, call.result = result, ""
        ToolCall.objects.bulk_update(calls, ["message", "result"])
    return position


def _streaming(reply_id: int) -> QuerySet[Message]:
    return Message.objects.select_related("conversation__scenario").filter(pk=reply_id, state="streaming")


def _lock_streaming(reply_id: int) -> None:
    """Keep the reply from ending until the transaction does. Raises `ReplyInterrupted` if it has ended."""
    if not Message.objects.select_for_update().filter(pk=reply_id, state="streaming").exists():
        raise ReplyInterrupted


def _messages_of(reply: Message, calls: Sequence[ToolCall], text: str) -> list[Message]:
    """Return a step as messages in the reply's place: the calls, and a result for each."""
    language = language_of(reply.conversation.scenario)
    asked = PromptMessage("assistant", text, tool_calls=tuple(map(_as_asked, calls)))
    results = [PromptMessage("tool", call.result, tool_call_id=call.call_id) for call in calls]
    placed = enumerate([asked, *results], start=reply.position)
    return [_row_of_message(reply, message, position, language) for position, message in placed]


def _as_asked(call: ToolCall) -> AskedCall:
    """Return the call as it is sent from now on: providers refuse names and arguments that are none."""
    name = call.tool if TOOL_NAME.fullmatch(call.tool) else UNNAMED
    return AskedCall(call.call_id, name, call.arguments if is_object(call.arguments) else "{}")


def _row_of_message(reply: Message, message: PromptMessage, position: int, language: Language) -> Message:
    return Message(
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
