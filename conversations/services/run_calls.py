"""Run the tool calls of one step: what may be run, all at once, each with its own end. Nothing is ever run twice."""

from __future__ import annotations

import asyncio
import logging

from conversations.core.errors import ConversationError, ToolChanged, ToolError, ToolTimedOut
from conversations.models import ToolCall
from conversations.models.tool_call import ToolCallState
from conversations.threads import in_worker_thread
from conversations.tools.tool import Tool, ToolContext
from conversations.tools.toolbox import Toolbox

from .attempts import see_through
from .tool_calls import begin_call, end_call

logger = logging.getLogger(__name__)
GRACE_SECONDS = 2.0  # beyond a tool's own time-out, for one that does not keep it
AT_ONCE = 4


async def run_calls(calls: list[ToolCall], toolbox: Toolbox, context: ToolContext) -> None:
    """Run those *calls* that are ready, to their ends. A tool that fails ends its call alone.

    A cancellation stops the calls that are running, and leaves the others as they are.
    """
    slots = asyncio.Semaphore(AT_ONCE)
    ready = [call for call in calls if call.state == ToolCallState.READY]
    async with asyncio.TaskGroup() as group:
        for call in ready:
            group.create_task(_run_in(slots, call, toolbox, context))


async def _run_in(slots: asyncio.Semaphore, call: ToolCall, toolbox: Toolbox, context: ToolContext) -> None:
    async with slots:
        try:
            tool = _tool_as_asked(call, toolbox)
        except ToolError as error:
            await _end(call, ToolCallState.FAILED, error)
            return
        if await in_worker_thread(begin_call)(call.pk):
            await _run(call, tool, context)


def _tool_as_asked(call: ToolCall, toolbox: Toolbox) -> Tool:
    """Return the tool that is to be run. Hours may have gone by since somebody was asked about it.

    Raises `ToolUnknown` if it is not there any more, and `ToolChanged` unless it is exactly what was asked for, or
    allowed: the same source, description and schema, and the same arguments.
    """
    tool = toolbox.find(call.tool)
    if tool.spec.digest_of_call(call.arguments) != call.digest or (tool.spec.asks and not call.asked):
        raise ToolChanged
    return tool


async def _run(call: ToolCall, tool: Tool, context: ToolContext) -> None:
    try:
        result = await _result_of(call, tool, context)
    except ToolError as error:
        await _end(call, ToolCallState.FAILED, error)
    except asyncio.CancelledError:
        await see_through(in_worker_thread(end_call)(call.pk, ToolCallState.STOPPED))
        raise
    except Exception as error:  # whatever is wrong with a tool, the reply goes on
        logger.exception("the tool %s failed", call.tool)
        await _end(call, ToolCallState.FAILED, ToolError(detail=type(error).__name__))
    else:
        await see_through(in_worker_thread(end_call)(call.pk, ToolCallState.SUCCEEDED, result=result))


async def _result_of(call: ToolCall, tool: Tool, context: ToolContext) -> str:
    try:
        async with asyncio.timeout(tool.timeout_seconds + GRACE_SECONDS):
            return await tool.run(call.arguments, context)
    except TimeoutError as error:
        raise ToolTimedOut from error


async def _end(call: ToolCall, state: ToolCallState, error: ConversationError) -> None:
    text = error.for_the_model if isinstance(error, ToolError) else str(error)
    await see_through(in_worker_thread(end_call)(call.pk, state, result=text, error_code=error.code))
