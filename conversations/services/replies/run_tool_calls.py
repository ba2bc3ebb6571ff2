"""Run the tool calls of one step, several at once, each with its own end. No call is ever run twice.

A fault of a tool ends its call alone: one that raises, exceeds its time-out, does not stop when it is cancelled, or is
no longer the tool that was asked for.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from conversations.core.errors import ToolChanged, ToolError, ToolTimedOut
from conversations.live.database_retries import retry_while_database_down
from conversations.models import ToolCall
from conversations.models.run import RunHolder
from conversations.models.tool_call import ToolCallState
from conversations.services.ledger.provider_attempts import finish_before_cancelling
from conversations.tools.tool import Tool, ToolContext
from conversations.tools.toolbox import Toolbox
from conversations.tracing import traced_tool_call

from .tool_calls import begin_call, end_call, is_running

logger = logging.getLogger(__name__)
GRACE_SECONDS = 2.0  # beyond a tool's own time-out, in case it does not keep to it
CANCEL_SECONDS = 0.5  # for a tool to stop when it is cancelled
AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class ToolRunner:
    """With which tools calls are run, for whom, and how many seconds are left for them.

    None is begun once *holder* has lost the run of the reply.

    *find_tools* reads the tools at that moment: one may be removed while a reply is made.
    """

    find_tools: Callable[[], Toolbox]
    context: ToolContext
    left_seconds: Callable[[], float]
    holder: RunHolder | None = None


async def run_calls(calls: Iterable[ToolCall], runner: ToolRunner) -> None:
    """Run those *calls* that are ready, to their ends. Those whose turn comes too late are not begun.

    A cancellation stops what is running and leaves its rows as they are: they end with the reply.
    """
    slots = asyncio.Semaphore(AT_ONCE)
    ready = [call for call in calls if call.state == ToolCallState.READY]
    tasks = [asyncio.create_task(_run_in_turn(slots, same, runner)) for same in _by_digest(ready)]
    if not tasks:
        return
    try:
        await asyncio.wait(tasks)
    except asyncio.CancelledError:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        raise
    for task in tasks:
        task.result()


def _by_digest(calls: Iterable[ToolCall]) -> list[list[ToolCall]]:
    """Group identical calls: they are run in turn, so the second finds the result of the first."""
    by_digest: defaultdict[str, list[ToolCall]] = defaultdict(list)
    for call in calls:
        by_digest[call.digest].append(call)
    return list(by_digest.values())


async def _run_in_turn(slots: asyncio.Semaphore, calls: Sequence[ToolCall], runner: ToolRunner) -> None:
    async with slots:
        for call in calls:
            await _run(call, runner)


async def _run(call: ToolCall, runner: ToolRunner) -> None:
    try:
        if not runner.left_seconds():
            raise ToolTimedOut
        if tool := await retry_while_database_down(partial(_begin, call, runner, [])):
            with traced_tool_call(call.tool, call_id=call.pk):
                result = await _result_of(tool, call, runner)
            await _end(call, ToolCallState.SUCCEEDED, result)
    except ToolError as error:
        await _end(call, ToolCallState.FAILED, error.for_the_model, error.code)
    except Exception as error:
        logger.exception("the tool %s failed", call.tool)
        failure = ToolError(detail=type(error).__name__)
        await _end(call, ToolCallState.FAILED, failure.for_the_model, failure.code)


def _begin(call: ToolCall, runner: ToolRunner, tries: list[None]) -> Tool | None:
    """Mark the call as running and return its tool; None if it may not, or need not, be run.

    Raises `ToolError` where a try before this one may have marked it and its answer was lost: none begins twice.
    """
    tries.append(None)
    tool = _find_same_tool(call, runner.find_tools())
    if begin_call(call, runner.holder):
        return tool
    if len(tries) > 1 and is_running(call):
        raise ToolError(detail="The database went away as it was to begin.")
    return None


def _find_same_tool(call: ToolCall, toolbox: Toolbox) -> Tool:
    """Return the tool that is to be run. Hours may have gone by since its approval was asked for.

    Raises `ToolUnknown` if it no longer exists, and `ToolChanged` unless it is exactly what was asked for or approved:
    the same source, description and schema, and the same arguments.
    """
    tool = toolbox.find(call.tool)
    needs_approval_now = tool.spec.needs_approval and not call.needs_approval
    if tool.spec.digest_of_call(call.arguments) != call.digest or needs_approval_now:
        raise ToolChanged
    return tool


async def _result_of(tool: Tool, call: ToolCall, runner: ToolRunner) -> str:
    """Return the tool's result. A tool that goes on after its time, or after it was cancelled, is left alone."""
    work = asyncio.ensure_future(tool.run(call.arguments, runner.context))
    try:
        await asyncio.wait([work], timeout=min(tool.timeout_seconds + GRACE_SECONDS, runner.left_seconds()))
        if not work.done():
            raise ToolTimedOut
    finally:
        if work.cancel():
            await asyncio.wait([work], timeout=CANCEL_SECONDS)
    if work.cancelled():
        raise ToolError(detail="It broke off.")
    try:
        return work.result()
    except TimeoutError as error:
        raise ToolTimedOut from error


async def _end(call: ToolCall, state: ToolCallState, result: str, error_code: str = "") -> None:
    write = partial(end_call, call.pk, state, result=result, error_code=error_code)
    await finish_before_cancelling(retry_while_database_down(write))
