"""Make one reply: look-up, and then step by step a completion and the tools it calls, until it answers.

    step = window with all steps so far → completion → calls, if it asks for tools → their results, stored as a step

All that a step leaves behind is stored before the next one begins, so a reply goes on where it was after it has waited
for somebody to allow a call. The worker gives the text a place, and ends the reply by what this returns or raises.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial

from django.conf import settings

from conversations.core.errors import ToolStepsUsedUp
from conversations.grounding.look_up import look_up
from conversations.models import Message, ToolCall
from conversations.models.tool_call import ENDED, ToolCallState
from conversations.providers.completions import CompletionClient
from conversations.threads import in_worker_thread
from conversations.tools.tool import ToolContext
from conversations.tools.toolbox import Toolbox, toolbox_of

from .complete_step import ReplySink, complete_step
from .prepare_reply import prepare_reply
from .run_calls import run_calls
from .tool_calls import calls_of_step, store_calls, store_step


class Made(Enum):
    """What became of a reply: it is complete, or a call of it asks the person first."""

    COMPLETE = auto()
    ASKING = auto()


@dataclass(slots=True)
class _Loop:
    """The steps of one reply while it is made: the one it is *at*, with what has come of its calls so far."""

    reply_id: int
    toolbox: Toolbox
    context: ToolContext
    at: int
    calls: list[ToolCall]
    text: str

    @property
    def has_steps_left(self) -> bool:
        return self.at <= settings.TOOL_STEPS


async def make_reply(
    reply_id: int,
    *,
    sink: ReplySink,
    client: CompletionClient,
    find_tools: Callable[[Message], Toolbox] | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Made:
    """Make the reply, appending to *sink*, or go on with it. *find_tools* takes the scenario's place.

    Raises the `ConversationError` that ended it otherwise. A cancellation stops the running calls, closes the
    connection to the provider and settles the ledger before it goes on; its message is the error code, empty if a
    person stopped the reply.
    """
    looked_up = await look_up(reply_id)
    loop = await in_worker_thread(_begin)(reply_id, find_tools or _scenarios_tools)
    until = time.monotonic() + settings.TOOL_SECONDS
    sink.begin_step(loop.at, loop.text)
    while True:
        if loop.calls and not await _end_step(loop, sink):
            return Made.ASKING
        may_call = loop.has_steps_left and time.monotonic() < until
        prepare = partial(in_worker_thread(prepare_reply), reply_id, looked_up, toolbox=loop.toolbox)
        progress = await complete_step(prepare, sink=sink, client=client, may_call=may_call, sleep=sleep)
        if not progress.calls:
            return Made.COMPLETE
        if not may_call:
            raise ToolStepsUsedUp
        asked = progress.calls.calls(step=loop.at)
        loop.text = "".join(progress.pieces)
        loop.calls = await in_worker_thread(store_calls)(reply_id, step=loop.at, calls=asked, toolbox=loop.toolbox)
        sink.show_calls()


def _begin(reply_id: int, find_tools: Callable[[Message], Toolbox]) -> _Loop:
    """Return the loop of a reply as it is stored: at its first step, or where it had to wait."""
    with_all = Message.objects.select_related("parent", "conversation__scenario", "conversation__owner")
    reply = with_all.get(pk=reply_id)
    at = 1 + (reply.steps.filter(role="assistant").count() if reply.position > reply.first_position else 0)
    owner = reply.conversation.owner
    context = ToolContext(owner.pk, reply.conversation_id, reply_id)
    return _Loop(reply_id, find_tools(reply), context, at, calls_of_step(reply_id, at), reply.content)


def _scenarios_tools(reply: Message) -> Toolbox:
    return toolbox_of(reply.conversation.scenario)


async def _end_step(loop: _Loop, sink: ReplySink) -> bool:
    """Run what may be run of the calls. Once all have ended, the step is stored and the next begins."""
    while any(call.state == ToolCallState.READY for call in loop.calls):  # some are allowed while others run
        await run_calls(loop.calls, loop.toolbox, loop.context)
        loop.calls = await in_worker_thread(calls_of_step)(loop.reply_id, loop.at)
    if any(call.state == ToolCallState.ASKS for call in loop.calls):
        sink.show_calls()
        return False
    if not all(call.state in ENDED for call in loop.calls):
        raise RuntimeError(f"calls of reply {loop.reply_id} have not ended")
    await in_worker_thread(store_step)(loop.reply_id, step=loop.at, text=loop.text)
    loop.at, loop.calls, loop.text = loop.at + 1, [], ""
    sink.begin_step(loop.at, loop.text)
    return True
