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
from django.db.models import Exists, OuterRef

from conversations.core.errors import ToolStepsUsedUp
from conversations.grounding.look_up import LookedUp, look_up, looked_up_before
from conversations.models import Message, ToolCall
from conversations.models.tool_call import ToolCallState
from conversations.providers.completions import CompletionClient
from conversations.tools.tool import ToolContext
from conversations.tools.toolbox import Toolbox, toolbox_of
from conversations.tools.withdrawn import withdrawn_tools

from .attempts import insist, see_through
from .complete_step import Progress, ReplySink, complete_step
from .prepare_reply import PreparedReply, prepare_reply, replies_to_be_made
from .reply_steps import as_asked, store_step
from .run_calls import Running, run_calls
from .tool_calls import calls_of_step, store_calls


class Made(Enum):
    """What became of a reply: it is complete, or a call of it asks the person first."""

    COMPLETE = auto()
    ASKING = auto()


@dataclass(slots=True)
class _Loop:
    """The steps of one reply while it is made: the one it is *at*, with what has come of its calls so far.

    *reply* is as it was read before the first request; *position* is where it is now. Of the *told* tools, which go
    with each request, those in the *toolbox* may be called, *until* a time of the monotonic clock.
    """

    reply: Message
    toolbox: Toolbox
    told: Toolbox
    at: int
    position: int
    text: str
    calls: list[ToolCall]
    until: float = float("inf")

    @property
    def context(self) -> ToolContext:
        owner = self.reply.conversation.owner
        return ToolContext(owner.pk, self.reply.conversation_id, self.reply.pk, owner.time_zone)

    @property
    def goes_on(self) -> bool:
        """Whether there was a request for the reply before, after which it had to wait."""
        return bool(self.calls)

    @property
    def may_call(self) -> bool:
        return bool(self.toolbox.tools) and self.at <= settings.TOOL_STEPS and time.monotonic() < self.until


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
    loop = await insist(partial(_begin, reply_id, find_tools or _scenarios_tools))
    looked_up = await (insist(partial(looked_up_before, reply_id)) if loop.goes_on else look_up(reply_id))
    loop.until = time.monotonic() + settings.TOOL_SECONDS
    sink.begin_step(loop.at, position=loop.position, text=loop.text)
    while True:
        if loop.calls and not await _end_step(loop, sink):
            return Made.ASKING
        prepare = partial(_prepare, loop, looked_up)
        progress = await complete_step(prepare, sink=sink, client=client, may_call=loop.may_call, sleep=sleep)
        if _is_answer(progress, loop):
            return Made.COMPLETE
        if not progress.may_call:
            raise ToolStepsUsedUp
        await _store_calls(loop, progress)
        sink.show_calls()


def _begin(reply_id: int, find_tools: Callable[[Message], Toolbox]) -> _Loop:
    """Return the loop of a reply as it is stored: at its first step, or where it had to wait."""
    calls = ToolCall.objects.filter(reply_id=OuterRef("pk"))
    reply = replies_to_be_made().annotate(has_called=Exists(calls)).get(pk=reply_id)
    toolbox = find_tools(reply)
    loop = _Loop(reply, toolbox, told=toolbox, at=1, position=reply.position, text=reply.content, calls=[])
    if reply.has_called:
        loop.at += reply.steps.filter(role="assistant").count()
        loop.calls = calls_of_step(reply_id, loop.at)
        if not toolbox.tools:  # somebody has taken them away while it waited
            loop.told = withdrawn_tools(call.name for call in map(as_asked, loop.calls))
    return loop


def _scenarios_tools(reply: Message) -> Toolbox:
    return toolbox_of(reply.conversation.scenario)


async def _prepare(loop: _Loop, looked_up: LookedUp | None) -> PreparedReply:
    """Choose the window of a step. The first one, where nothing was looked up, needs only what has just been read."""
    reply = loop.reply if loop.at == 1 and looked_up is None else None
    return await insist(partial(prepare_reply, loop.reply.pk, looked_up, toolbox=loop.told, reply=reply))


def _is_answer(progress: Progress, loop: _Loop) -> bool:
    """Tell whether nothing is asked for. Some call tools that they were never told of, and answer all the same."""
    return not progress.calls or (not loop.toolbox.tools and bool(progress.pieces))


async def _store_calls(loop: _Loop, progress: Progress) -> None:
    is_cut = progress.end is not None and progress.end.finish_reason in ("length", "content_filter")
    asked = progress.calls.calls(step=loop.at, is_cut=is_cut)
    store = partial(store_calls, loop.reply.pk, step=loop.at, calls=asked, toolbox=loop.toolbox)
    loop.text, loop.calls = "".join(progress.pieces), await insist(store)


async def _end_step(loop: _Loop, sink: ReplySink) -> bool:
    """Run what may be run of the calls. Once all have ended, the step is stored and the next begins."""
    while any(call.state == ToolCallState.READY for call in loop.calls):  # some are allowed while others run
        await run_calls(loop.calls, Running(loop.toolbox, loop.context, loop.until))
        loop.calls = await insist(partial(calls_of_step, loop.reply.pk, loop.at))
    if any(call.state == ToolCallState.ASKS for call in loop.calls):
        sink.show_calls()
        return False
    if not all(call.has_ended for call in loop.calls):
        raise RuntimeError(f"calls of reply {loop.reply.pk} have not ended")
    await see_through(_next_step(loop, sink))
    return True


async def _next_step(loop: _Loop, sink: ReplySink) -> None:
    """Store the step and begin the next. Stopped in between, the reply would end with the text of a step before it."""
    loop.position = await insist(partial(store_step, loop.reply.pk, step=loop.at, text=loop.text))
    loop.at, loop.calls, loop.text = loop.at + 1, [], ""
    sink.begin_step(loop.at, position=loop.position, text="")
