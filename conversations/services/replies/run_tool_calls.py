"""Run the tool calls of one step: what may be run, several at once, each with its own end. Nothing is ever run twice.

Whatever is wrong with a tool ends its call alone: one that raises, that does not keep its time-out, that does not stop
when it is told to, or that is not the tool any more that was asked for.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from conversations.core.errors import ToolChanged, ToolError, ToolTimedOut
from conversations.live.database_threads import in_worker_thread
from conversations.models import ToolCall
from conversations.models.tool_call import ToolCallState
from conversations.services.ledger.provider_attempts import insist, see_through
from conversations.tools.tool import Tool, ToolContext
from conversations.tools.toolbox import Toolbox

from .tool_calls import begin_call, end_call
from .tool_time import ToolTime

logger = logging.getLogger(__name__)
GRACE_SECONDS = 2.0  # beyond a tool's own time-out, for one that does not keep it
LAST_WORDS_SECONDS = 0.5  # for a tool that is told to stop
AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Running:
    """With which tools calls are run, for whom, and in which *time*.

    *find_tools* reads the tools that there are at that moment: one may be taken away while a reply is made.
    """

    find_tools: Callable[[], Toolbox]
    context: ToolContext
    time: ToolTime = field(default_factory=ToolTime)


async def run_calls(calls: Iterable[ToolCall], running: Running) -> None:
    """Run those *calls* that are ready, to their ends. Those whose turn comes too late are not begun.

    A cancellation stops what is running and leaves its rows as they are: they end with the reply.
    """
    slots = asyncio.Semaphore(AT_ONCE)
    ready = [call for call in calls if call.state == ToolCallState.READY]
    tasks = [asyncio.create_task(_run_in(slots, same, running)) for same in _by_digest(ready)]
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
    """Return the calls with those that are the same together: they are run in turn, so the second finds a result."""
    by_digest: defaultdict[str, list[ToolCall]] = defaultdict(list)
    for call in calls:
        by_digest[call.digest].append(call)
    return list(by_digest.values())


async def _run_in(slots: asyncio.Semaphore, calls: Sequence[ToolCall], running: Running) -> None:
    async with slots:
        for call in calls:
            await _run(call, running)


async def _run(call: ToolCall, running: Running) -> None:
    try:
        if not running.time.left_seconds:
            raise ToolTimedOut
        if tool := await in_worker_thread(_begin)(call, running.find_tools):
            result = await _result_of(tool, call, running)
            await _end(call, ToolCallState.SUCCEEDED, result)
    except ToolError as error:
        await _end(call, ToolCallState.FAILED, error.for_the_model, error.code)
    except Exception as error:
        logger.exception("the tool %s failed", call.tool)
        failure = ToolError(detail=type(error).__name__)
        await _end(call, ToolCallState.FAILED, failure.for_the_model, failure.code)


def _begin(call: ToolCall, find_tools: Callable[[], Toolbox]) -> Tool | None:
    """Return the tool that is run now; None if none may be, or need be."""
    tool = _tool_as_asked(call, find_tools())
    return tool if begin_call(call) else None


def _tool_as_asked(call: ToolCall, toolbox: Toolbox) -> Tool:
    """Return the tool that is to be run. Hours may have gone by since somebody was asked about it.

    Raises `ToolUnknown` if it is not there any more, and `ToolChanged` unless it is exactly what was asked for, or
    allowed: the same source, description and schema, and the same arguments.
    """
    tool = toolbox.find(call.tool)
    if tool.spec.digest_of_call(call.arguments) != call.digest or (tool.spec.asks and not call.asked):
        raise ToolChanged
    return tool


async def _result_of(tool: Tool, call: ToolCall, running: Running) -> str:
    """Return what the tool says. One that goes on after its time, or after it was told to stop, is left alone."""
    work = asyncio.ensure_future(tool.run(call.arguments, running.context))
    try:
        await asyncio.wait([work], timeout=min(tool.timeout_seconds + GRACE_SECONDS, running.time.left_seconds))
        if not work.done():
            raise ToolTimedOut
    finally:
        if work.cancel():
            await asyncio.wait([work], timeout=LAST_WORDS_SECONDS)
    if work.cancelled():
        raise ToolError(detail="It broke off.")
    try:
        return work.result()
    except TimeoutError as error:
        raise ToolTimedOut from error


async def _end(call: ToolCall, state: ToolCallState, result: str, error_code: str = "") -> None:
    await see_through(insist(partial(end_call, call.pk, state, result=result, error_code=error_code)))
