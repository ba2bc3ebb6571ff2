"""Tool calls as they are stored: before they are run, while they run, and until their step is whole.

store_calls ──▶ rows that ask, are ready, or have ended at once because they can't be run
begin_call  ──▶ running: one statement, so that nothing is ever run twice; or the result of the same call before
end_call    ──▶ its result, cut to what is kept

All but `begin_call` may be done twice, by somebody who did not hear whether it was done.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from conversations.core.errors import ToolError, TooManyCalls
from conversations.core.prompt.messages import ToolCall as AskedCall
from conversations.core.text.storable_text import UNSTORABLE
from conversations.core.tools.tool_spec import MOST_CALLS_AT_ONCE
from conversations.models import ToolCall
from conversations.models.tool_call import ENDED, ToolCallState
from conversations.services.windows.active_path import lock_streaming
from conversations.tools.toolbox import Toolbox

logger = logging.getLogger(__name__)
LONGEST_NAME_CHARACTERS = 100
LONGEST_ARGUMENTS_CHARACTERS = 100_000
LONGEST_RESULT_CHARACTERS = 200_000
REPEATED_CHARACTERS = 200
SAME_AS_BEFORE = "This is the same call as before, so it was not run again, and its result is the same:"
SHORTENED = "\n… (the tool answered with more, which was not kept)"


def store_calls(reply_id: int, *, step: int, calls: Sequence[AskedCall], toolbox: Toolbox) -> list[ToolCall]:
    """Write down what the language model asks for, before any of it is run. What can't be run has ended already.

    Of calls above the limit, one row says how many were left out. Raises `ReplyInterrupted` if the reply has ended.
    """
    rows = [_row_of(call, toolbox) for call in calls[:MOST_CALLS_AT_ONCE]]
    if left_out := len(calls) - len(rows):
        rows.append(_row_of_left_out(_unchecked_row(calls[len(rows)], toolbox), left_out))
    for index, row in enumerate(rows):
        row.reply_id, row.step, row.index = reply_id, step, index
    with transaction.atomic():
        lock_streaming(reply_id)
        return calls_of_step(reply_id, step) or ToolCall.objects.bulk_create(rows)


def _row_of(call: AskedCall, toolbox: Toolbox) -> ToolCall:
    row = _unchecked_row(call, toolbox)
    try:
        tool = toolbox.find(call.name)
        tool.check(row.arguments)
        row.digest = tool.spec.digest_of_call(row.arguments)
    except ToolError as error:
        return _failed(row, error)
    except Exception as error:  # whatever is wrong with a tool, the reply goes on
        logger.exception("the arguments of the tool %s could not be checked", call.name)
        return _failed(row, ToolError(detail=type(error).__name__))
    row.asked = tool.spec.asks
    row.state = ToolCallState.ASKS if tool.spec.asks else ToolCallState.READY
    return row


def _row_of_left_out(first: ToolCall, count: int) -> ToolCall:
    """Return *first*, the first call that was one too many. It stands for all of them: nobody reads hundreds."""
    limit = f"At most {MOST_CALLS_AT_ONCE} may be called at once; {count} were left out."
    return _failed(first, TooManyCalls(detail=limit))


def _unchecked_row(call: AskedCall, toolbox: Toolbox) -> ToolCall:
    """Return the row of a call, without a source if there is no such tool. Arguments that are cut are JSON no more."""
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
