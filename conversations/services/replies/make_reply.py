"""Make one reply: look-up, and then step by step a completion and the tools it calls, until it answers.

    step = window with all steps so far → completion → calls, if it asks for tools → their results, stored as a step

All that a step leaves behind is stored before the next one begins, so a reply goes on where it was after it has waited
for somebody to allow a call. The worker gives the text a place, and ends the reply by what this returns or raises.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum, auto
from functools import partial

from django.conf import settings

from conversations.core.errors import ToolStepsUsedUp
from conversations.models import Message, Run, ToolCall
from conversations.models.tool_call import ToolCallState
from conversations.providers.clients.completions import CompletionClient
from conversations.services.grounding.embed_texts import embed_texts
from conversations.services.grounding.look_up import LookedUp, look_up, looked_up_before
from conversations.services.ledger.provider_attempts import insist, see_through
from conversations.tools.tool import ToolContext
from conversations.tools.toolbox import Toolbox, toolbox_of
from conversations.tools.withdrawn_tools import withdrawn_tools

from .complete_step import Progress, ReplySink, complete_step
from .prepare_reply import TO_BE_MADE, PreparedReply, prepare_reply
from .reply_steps import as_asked, store_step
from .run_tool_calls import Running, run_calls
from .tool_calls import calls_of_step, store_calls
from .tool_time import ToolTime

FindTools = Callable[[Message], Toolbox]


class Made(Enum):
    """What became of a reply: it is complete, or a call of it asks the person first."""

    COMPLETE = auto()
    ASKING = auto()


@dataclass(slots=True)
class _Loop:
    """The steps of one reply while it is made: the one it is *at*, with what has come of its calls so far.

    *reply* is as it was read before the first request; *position* is where it is now. Of the *told* tools, which go
    with each request, those in the *toolbox* may be called, as long as there is *time*. What a step learned about the
    window of a provider that names no limit holds for those after it: *tightening*. Where nothing is to be looked up,
    the *first* window is chosen as soon as the reply is read.
    """

    reply: Message
    toolbox: Toolbox
    told: Toolbox
    at: int
    position: int
    text: str
    calls: list[ToolCall]
    time: ToolTime = field(default_factory=ToolTime)
    tightening: Decimal = Decimal(1)
    first: PreparedReply | None = None

    @property
    def context(self) -> ToolContext:
        owner = self.reply.conversation.owner
        return ToolContext(owner.pk, self.reply.conversation_id, self.reply.pk, owner.time_zone, embed_texts)

    @property
    def goes_on(self) -> bool:
        """Whether there was a request for the reply before, after which it had to wait."""
        return bool(self.calls)

    @property
    def may_call(self) -> bool:
        return bool(self.toolbox.tools) and self.at <= settings.TOOL_STEPS and self.time.left_seconds > 0


async def make_reply(
    reply_id: int,
    *,
    sink: ReplySink,
    client: CompletionClient,
    find_tools: FindTools | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Made:
    """Make the reply, appending to *sink*, or go on with it. *find_tools* takes the scenario's place.

    Raises the `ConversationError` that ended it otherwise. A cancellation stops the running calls, closes the
    connection to the provider and settles the ledger before it goes on; its message is the error code, empty if a
    person stopped the reply.
    """
    find_tools = find_tools or _scenarios_tools
    loop = await insist(partial(_begin, reply_id, find_tools))
    running = Running(partial(_tools_of_now, reply_id, find_tools), loop.context, loop.time)
    looked_up = await _looked_up(loop)
    loop.time.begin(clock)
    sink.begin_step(loop.at, position=loop.position, text=loop.text)
    while True:
        if loop.calls and not await _end_step(loop, running, sink):
            await insist(partial(_keep, loop))
            return Made.ASKING
        prepare = partial(_prepare, loop, looked_up)
        progress = await complete_step(prepare, sink=sink, client=client, may_call=loop.may_call, sleep=sleep)
        if _is_answer(progress):
            return Made.COMPLETE
        if not progress.may_call:
            raise ToolStepsUsedUp
        loop.tightening = progress.tightening
        await _store_calls(loop, progress)
        sink.show_calls()


def _begin(reply_id: int, find_tools: FindTools) -> _Loop:
    """Return the loop of a reply as it is stored: at its first step, or where it had to wait. Raises `PromptError`."""
    reply = TO_BE_MADE.get(reply_id)
    toolbox = find_tools(reply)
    loop = _Loop(reply, toolbox, told=toolbox, at=1, position=reply.position, text=reply.content, calls=[])
    if reply.has_called:  # type: ignore[attr-defined]  # annotated
        loop.at += reply.steps.filter(role="assistant").count()
        loop.calls = calls_of_step(reply_id, loop.at)
        loop.time.used_before_seconds, loop.tightening = _kept(reply_id)
        if not toolbox.tools:  # somebody has taken them away while it waited
            loop.told = withdrawn_tools(call.name for call in map(as_asked, loop.calls))
    elif not reply.may_be_looked_up:  # type: ignore[attr-defined]  # annotated
        loop.first = prepare_reply(reply_id, toolbox=toolbox, reply=reply)
    return loop


def _kept(reply_id: int) -> tuple[float, Decimal]:
    """Return what `_keep` has written down of a reply that had to wait."""
    return Run.objects.values_list("tool_seconds", "tightening").get(reply_id=reply_id)


def _keep(loop: _Loop) -> None:
    Run.objects.filter(reply_id=loop.reply.pk).update(tool_seconds=loop.time.used_seconds, tightening=loop.tightening)


def _scenarios_tools(reply: Message) -> Toolbox:
    return toolbox_of(reply.conversation.scenario)


def _tools_of_now(reply_id: int, find_tools: FindTools) -> Toolbox:
    """Return the tools, read anew: while a reply is made some may be taken away, or a server be put out of use."""
    scenario = "conversation__scenario"
    replies = Message.objects.select_related(scenario).only(f"{scenario}__tools", f"{scenario}__owner")
    return find_tools(replies.get(pk=reply_id))


async def _looked_up(loop: _Loop) -> LookedUp | None:
    """Return what was looked up for the question; None where there was nothing to look in."""
    if loop.first:
        return None
    if loop.goes_on:
        return await insist(partial(looked_up_before, loop.reply.pk))
    return await look_up(loop.reply.pk)


async def _prepare(loop: _Loop, looked_up: LookedUp | None) -> PreparedReply:
    """Choose the window of a step, unless that has been done."""
    first, loop.first = loop.first, None
    if first:
        return first
    return await insist(partial(prepare_reply, loop.reply.pk, looked_up, toolbox=loop.told, tightening=loop.tightening))


def _is_answer(progress: Progress) -> bool:
    """Tell whether nothing is asked for. Some call tools where they may not, and answer all the same."""
    return not progress.calls or (not progress.may_call and bool("".join(progress.pieces).strip()))


async def _store_calls(loop: _Loop, progress: Progress) -> None:
    is_cut = progress.end is not None and progress.end.finish_reason in ("length", "content_filter")
    asked = progress.calls.calls(step=loop.at, is_cut=is_cut)
    store = partial(store_calls, loop.reply.pk, step=loop.at, calls=asked, toolbox=loop.toolbox)
    loop.text, loop.calls = "".join(progress.pieces), await insist(store)


async def _end_step(loop: _Loop, running: Running, sink: ReplySink) -> bool:
    """Run what may be run of the calls. Once all have ended, the step is stored and the next begins."""
    while any(call.state == ToolCallState.READY for call in loop.calls):  # some are allowed while others run
        await run_calls(loop.calls, running)
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
