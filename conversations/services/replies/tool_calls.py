"""Store the tool calls of a reply: before they are run, while they run, and as messages once their step has ended.

store_calls ──▶ rows that await approval, are ready, or have ended at once because they can't be run
begin_call  ──▶ running: one statement, so that no call is ever run twice; or the result of the same call before
end_call    ──▶ its result, truncated to what is kept
store_step  ──▶ messages before the reply on the path, all of them `step_of` the reply, which moves behind each step:

    user · [assistant with calls · result · result …] · [assistant with calls · result …] · the reply

All but `begin_call` may be done twice, because the answer of the database may be lost.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from django.db import connection, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from conversations.core.errors import ReplyInterrupted, ToolError, TooManyCalls
from conversations.core.prompt.kept_reasoning import KeptReasoning
from conversations.core.prompt.messages import PromptMessage, PromptToolCall
from conversations.core.text.storable_text import UNSTORABLE
from conversations.core.tools.tool_spec import MOST_CALLS_AT_ONCE, TOOL_NAME, is_object
from conversations.core.window.tool_steps import truncate_arguments
from conversations.models import Message, ToolCall
from conversations.models.run import RunHolder
from conversations.models.tool_call import ENDED, ToolCallState
from conversations.services.language_models.model_choice import use_model_of_run
from conversations.services.language_models.model_context import ModelContext, conversation_context
from conversations.services.ledger.ledger import HELD
from conversations.services.windows.active_path import lock_streaming
from conversations.tools.toolbox import Toolbox

from .reasoning import NO_COLUMNS, NO_REASONING, Reasoning

logger = logging.getLogger(__name__)
LONGEST_NAME_CHARACTERS = 100
LONGEST_ARGUMENTS_CHARACTERS = 100_000
LONGEST_SENT_CHARACTERS = 50_000  # of arguments that were longer than what is kept
LONGEST_RESULT_CHARACTERS = 200_000
REPEATED_CHARACTERS = 200
UNNAMED = "unknown"
# The lock keeps the run from being taken away at the same moment: another worker would find a call that runs.
BEGIN_CALL = f"""
WITH held AS ({HELD})
UPDATE conversations_toolcall SET state = 'running', started_at = statement_timestamp()
WHERE id = %s AND state = 'ready' AND EXISTS (SELECT FROM held)
"""  # noqa: S608  # constants
SAME_AS_BEFORE = "This is the same call as before, so it was not run again, and its result is the same:"
EMPTY = {"content": "", "content_tokens": 0, **NO_COLUMNS}
SHORTENED = "\n… (the tool answered with more, which was not kept)"


def store_calls(
    reply_id: int,
    *,
    step: int,
    calls: Sequence[PromptToolCall],
    toolbox: Toolbox,
    kept: KeptReasoning | None = None,
    holder: RunHolder | None = None,
) -> list[ToolCall]:
    """Store the calls that the language model asks for, before any is run. Those that can't be run have ended already.

    Of calls above the limit, one row says how many were left out. *kept* is what the provider demands back with them.
    Raises `ReplyInterrupted` if the reply has ended, or *holder* has lost its run.
    """
    rows = [_checked_row(call, toolbox) for call in calls[:MOST_CALLS_AT_ONCE]]
    if left_out := len(calls) - len(rows):
        rows.append(_left_out_row(_unchecked_row(calls[len(rows)], toolbox), left_out))
    for index, row in enumerate(rows):
        row.reply_id, row.step, row.index = reply_id, step, index
    if kept:
        rows[0].kept_reasoning = kept.text
    with transaction.atomic(savepoint=False):
        lock_streaming(reply_id, holder=holder)
        return calls_of_step(reply_id, step) or ToolCall.objects.bulk_create(rows)


def store_program_calls(
    reply_id: int, *, calls: Sequence[PromptToolCall], kept: KeptReasoning | None, holder: RunHolder | None
) -> None:
    """Store the calls of functions that the program runs, with the reply that ends with them.

    Raises `ReplyInterrupted` as `store_calls` does.
    """
    asked = [replace(call, arguments=UNSTORABLE.sub("", call.arguments)).to_json() for call in calls]
    with transaction.atomic(savepoint=False):
        lock_streaming(reply_id, holder=holder)
        Message.objects.filter(pk=reply_id).update(tool_calls=asked, kept_reasoning=kept.text if kept else "")


def _checked_row(call: PromptToolCall, toolbox: Toolbox) -> ToolCall:
    row = _unchecked_row(call, toolbox)
    try:
        tool = toolbox.find(call.name)
        tool.check(row.arguments)
        row.digest = tool.spec.digest_of_call(row.arguments)
    except ToolError as error:
        return _failed(row, error)
    except Exception as error:  # the reply goes on despite any fault of a tool
        logger.exception("the arguments of the tool %s could not be checked", call.name)
        return _failed(row, ToolError(detail=type(error).__name__))
    row.needs_approval = tool.spec.needs_approval
    row.state = ToolCallState.AWAITING_APPROVAL if tool.spec.needs_approval else ToolCallState.READY
    return row


def _left_out_row(first: ToolCall, count: int) -> ToolCall:
    """Return the first call above the limit, which stands for all of them: hundreds would be of no use to read."""
    limit = f"At most {MOST_CALLS_AT_ONCE} may be called at once; {count} were left out."
    return _failed(first, TooManyCalls(detail=limit))


def _unchecked_row(call: PromptToolCall, toolbox: Toolbox) -> ToolCall:
    """Return the row of a call, without a source if there is no such tool. Truncated arguments are no longer JSON."""
    tool = toolbox.tools.get(call.name)
    return ToolCall(
        call_id=call.id,
        tool=call.name[:LONGEST_NAME_CHARACTERS],
        source=tool.spec.source if tool else "",
        arguments=call.arguments[:LONGEST_ARGUMENTS_CHARACTERS],
    )


def _failed(row: ToolCall, error: ToolError) -> ToolCall:
    row.state, row.error_code, row.result = ToolCallState.FAILED, error.code, _kept(error.for_the_model)
    row.ended_at = timezone.now()
    return row


def calls_of_step(reply_id: int, step: int) -> list[ToolCall]:
    return list(ToolCall.objects.filter(reply_id=reply_id, step=step).order_by("index"))


def begin_call(call: ToolCall, holder: RunHolder | None = None) -> bool:
    """Mark the call as running. False if it has been run before, or may not be, or need not.

    It need not if the same was called before in the same reply without approval: then it ends as that one did. It may
    not once *holder* has lost the run of the reply.
    """
    if before := _same_before(call):
        end_call(call.pk, before.state, result=_repeated(before), error_code=before.error_code)
        return False
    if holder:
        with connection.cursor() as cursor:
            cursor.execute(BEGIN_CALL, [call.reply_id, *holder, call.pk])
            return bool(cursor.rowcount)
    ready = ToolCall.objects.filter(pk=call.pk, state=ToolCallState.READY)
    return bool(ready.update(state=ToolCallState.RUNNING, started_at=Now()))


def is_running(call: ToolCall) -> bool:
    return ToolCall.objects.filter(pk=call.pk, state=ToolCallState.RUNNING).exists()


def _same_before(call: ToolCall) -> ToolCall | None:
    """Return the first call of the same tool with the same arguments that has a result.

    What failed in an earlier step is worth another try, in the same step it is not.
    """
    if call.needs_approval:
        return None
    without_approval = ToolCall.objects.filter(reply_id=call.reply_id, needs_approval=False)
    same = without_approval.filter(digest=call.digest).select_related("message")
    succeeded = Q(step__lt=call.step, state=ToolCallState.SUCCEEDED)
    beside = Q(step=call.step, index__lt=call.index, state__in=ENDED)
    return same.filter(succeeded | beside).order_by("step", "index").first()


def _repeated(before: ToolCall) -> str:
    """Return the result of an earlier call, shortened: it is in the window already."""
    result = before.message.content if before.message else before.result
    if before.state != ToolCallState.SUCCEEDED:
        return result
    shown = result if len(result) <= REPEATED_CHARACTERS else f"{result[:REPEATED_CHARACTERS]} …"
    return f"{SAME_AS_BEFORE}\n{shown}"


def end_call(call_id: int, state: ToolCallState | str, *, result: str = "", error_code: str = "") -> None:
    """Store how a call ended, unless it has ended before."""
    running = ToolCall.objects.filter(pk=call_id).exclude(state__in=ENDED)
    running.update(state=state, result=_kept(result), error_code=error_code, ended_at=Now())


def _kept(result: str) -> str:
    cleaned = UNSTORABLE.sub("", result[: LONGEST_RESULT_CHARACTERS + 1])
    if len(result) <= LONGEST_RESULT_CHARACTERS:
        return cleaned
    return cleaned[:LONGEST_RESULT_CHARACTERS] + SHORTENED


def store_step(
    reply_id: int, *, step: int, text: str, reasoning: Reasoning = NO_REASONING, holder: RunHolder | None = None
) -> int:
    """Put the calls of *step*, all ended, and their results on the path, with *text* and *reasoning* before them.

    The reply moves behind them, empty; returns its position. Raises `ReplyInterrupted` as `store_calls` does.
    """
    reply = _streaming(reply_id).first()
    calls = calls_of_step(reply_id, step)
    if reply is None or not calls:
        raise ReplyInterrupted
    if calls[0].message_id is not None:
        return reply.position
    messages = _step_messages(reply, calls, text, reasoning)  # counted before anything is locked: results may be long
    with transaction.atomic():
        lock_streaming(reply_id, holder=holder)
        position = reply.position + len(messages)
        Message.objects.filter(pk=reply_id).update(position=position, **EMPTY)
        _, *results = Message.objects.bulk_create(messages)
        for call, result in zip(calls, results, strict=True):
            call.message, call.result = result, ""
        ToolCall.objects.bulk_update(calls, ["message", "result"])
    return position


def _streaming(reply_id: int) -> QuerySet[Message]:
    replies = Message.objects.select_related("conversation__scenario")
    replies = replies.annotate(run_model=F("run__language_model"), run_effort=F("run__effort"))
    return replies.filter(pk=reply_id, state="streaming")


def _step_messages(reply: Message, calls: Sequence[ToolCall], text: str, reasoning: Reasoning) -> list[Message]:
    """Return a step as messages in the reply's place: one with the calls, and one for the result of each."""
    use_model_of_run(reply.conversation, reply.run_model, reply.run_effort)  # type: ignore[attr-defined]  # annotated
    context = conversation_context(reply.conversation)
    called = PromptMessage("assistant", text, tool_calls=tuple(map(sent_call, calls)))
    results = [PromptMessage("tool", call.result, tool_call_id=call.call_id) for call in calls]
    placed = enumerate([called, *results], start=reply.position)
    rows = [_step_row(reply, message, position, context) for position, message in placed]
    rows[0].kept_reasoning = calls[0].kept_reasoning
    for column, value in reasoning.to_columns(context.count_text).items():
        setattr(rows[0], column, value)
    return rows


def sent_call(call: ToolCall) -> PromptToolCall:
    """Return the call as it is sent in prompts: providers refuse invalid names, and arguments that are no object."""
    name = call.tool if TOOL_NAME.fullmatch(call.tool) else UNNAMED
    arguments = call.arguments
    if len(arguments) == LONGEST_ARGUMENTS_CHARACTERS and not is_object(arguments):
        arguments = truncate_arguments(arguments, LONGEST_SENT_CHARACTERS)
    return PromptToolCall(call.call_id, name, arguments if is_object(arguments) else "{}")


def _step_row(reply: Message, message: PromptMessage, position: int, context: ModelContext) -> Message:
    return Message(
        conversation_id=reply.conversation_id,
        parent_id=reply.parent_id,
        step_of=reply,
        position=position,
        role=message.role,
        content=message.content,
        tool_calls=[call.to_json() for call in message.tool_calls],
        tool_call_id=message.tool_call_id or "",
        content_tokens=context.content_tokens(message),
        encoding=context.language_model.encoding,
    )
