"""Make one reply: look up grounding, then step by step a completion and the tool calls it asks for, until it answers.

    step = window with all steps so far → completion → tool calls, if it asks for any → their results, stored as a step

Each step is stored before the next one begins, so a reply that awaited approval of a call resumes where it was. The
run worker passes a sink for the text, and ends the reply by what `make_reply` returns or raises, unless the request
that gave its answer has ended it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import Enum, auto
from functools import partial

from django.conf import settings

from conversations.core.errors import EmptyReply, ReplyInterrupted, ToolStepsUsedUp, WorkerExhausted
from conversations.core.prompt.finish_reasons import end_of
from conversations.live.database_retries import retry_while_database_down
from conversations.models import Completion, Message, Run, ToolCall
from conversations.models.run import RunHolder
from conversations.models.tool_call import ToolCallState
from conversations.providers.clients.completions import CompletionClient
from conversations.selectors.conversations.web_search import searches_web
from conversations.services.grounding.embed_texts import embed_texts
from conversations.services.grounding.look_up import LookedUp, look_up, looked_up_before
from conversations.services.grounding.recall import Recalled, recall, recalled_before
from conversations.services.grounding.search_web import WebFindings, search_web
from conversations.services.grounding.wait_for_documents import wait_for_documents
from conversations.services.language_models.model_choice import reply_toolbox, takes_tools
from conversations.services.ledger.provider_attempts import RowOpening, finish_before_cancelling, open_or_settle
from conversations.tools.tool import ToolContext
from conversations.tools.toolbox import NO_TOOLS, ProgramToolbox, Toolbox, withdrawn_tools

from .complete_step import ReplySink, complete_step, open_ahead
from .end_reply import stored_reasoning
from .prepare_reply import PreparedReply, load_reply, prepare_reply
from .reasoning import NO_REASONING, Reasoning
from .run_tool_calls import ToolRunner, run_calls
from .step_progress import StepProgress
from .tool_calls import calls_of_step, sent_call, store_calls, store_program_calls, store_step

FindTools = Callable[[Message], Toolbox]


class ReplyOutcome(Enum):
    """How `make_reply` ended: the answer is stored and the reply to be ended, or has ended, or awaits approval."""

    ANSWERED = auto()
    ENDED = auto()
    AWAITING_APPROVAL = auto()


@dataclass(slots=True)
class ToolTime:
    """How long the language model and the tools have worked on one reply, before it awaited approval and since.

    The clock stands still while approval is awaited: what was used until then is stored with the run.
    """

    used_before_seconds: float = 0.0
    clock: Callable[[], float] = time.monotonic
    began: float | None = None

    def begin(self, clock: Callable[[], float]) -> None:
        self.clock, self.began = clock, clock()

    @property
    def used_seconds(self) -> float:
        return self.used_before_seconds + (self.clock() - self.began if self.began is not None else 0.0)

    def left_seconds(self) -> float:
        return max(0.0, settings.TOOL_SECONDS - self.used_seconds)


@dataclass(slots=True)
class _Loop:
    """The steps of one reply while it is made: the current *step*, its *text* and its *calls* so far.

    *reply* is as it was read before the first request; *holder* holds its run; *position* is where it is now.
    *advertised_tools* go with each request; those in the *toolbox* may be called, as long as there is *time*. What a
    step learned about the window of a provider that names no limit holds for those after it: *tightening*. *first* is
    the first window, where it has been chosen already: nothing is to be looked up for it; *opened* is the row of its
    request, if that was opened with it. *without_recall* is the one that told where recall may look. A reply that
    *is_continued* goes on behind its *text*, and calls no tools.
    """

    reply: Message
    holder: RunHolder
    toolbox: Toolbox
    advertised_tools: Toolbox
    step: int
    position: int
    text: str
    calls: list[ToolCall]
    reasoning: Reasoning = NO_REASONING
    time: ToolTime = field(default_factory=ToolTime)
    tightening: Decimal = Decimal(1)
    first: PreparedReply | None = None
    opened: Completion | None = None
    without_recall: PreparedReply | None = None
    is_continued: bool = False
    was_requested: bool = False

    @property
    def context(self) -> ToolContext:
        owner = self.reply.conversation.owner
        return ToolContext(owner.pk, self.reply.conversation_id, self.reply.pk, owner.time_zone, embed_texts)

    @property
    def is_resumed(self) -> bool:
        """Whether the reply awaited approval before, or is continued, so that there was a request for it."""
        return bool(self.calls) or self.was_requested

    @property
    def may_call(self) -> bool:
        if self.calls_back:
            return not (self.is_continued or (self.reply.conversation.parameters_of_run or {}).get("may_not_call"))
        return (
            bool(self.toolbox.tools)
            and not self.is_continued
            and self.step <= settings.TOOL_STEPS
            and self.time.left_seconds() > 0
        )

    @property
    def calls_back(self) -> bool:
        """Whether its calls are answered by the program that asked for it: then the reply ends with them."""
        return isinstance(self.toolbox, ProgramToolbox)


async def make_reply(
    reply_id: int,
    *,
    sink: ReplySink,
    client: CompletionClient,
    holder: RunHolder | None = None,
    find_tools: FindTools | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> ReplyOutcome:
    """Make the reply, or resume it, appending its text to *sink*. *find_tools* replaces the scenario's tools.

    Nothing is asked for or stored once *holder* has lost its run; without one, who holds it now is taken for that.
    Raises the `ConversationError` that ended it. A cancellation stops the running calls, closes the connection to the
    provider and settles the ledger before it goes on; its message is the error code, empty if a user stopped the
    reply.
    """
    find_tools = find_tools or _scenario_tools
    loop = await _load_and_open(partial(_load_loop, reply_id, find_tools, holder))
    find_now = partial(_current_tools, reply_id, find_tools)
    runner = ToolRunner(find_now, loop.context, loop.time.left_seconds, loop.holder)
    grounding = await _look_up(loop, sink)
    recalled = await _recall(loop, grounding)
    loop.time.begin(clock)
    sink.begin_step(loop.step, position=loop.position, text=loop.text, reasoning=loop.reasoning)
    while True:
        if loop.calls and not await _finish_calls(loop, runner, sink):
            await retry_while_database_down(partial(_save_loop, loop))
            return ReplyOutcome.AWAITING_APPROVAL
        prepare = partial(_choose_window, loop, grounding, recalled)
        opened, loop.opened = loop.opened, None
        try:
            progress = await complete_step(
                prepare,
                sink=sink,
                client=client,
                may_call=loop.may_call,
                holder=loop.holder,
                store_calls=partial(_store_calls, loop),
                opened=opened,
                sleep=sleep,
            )
        except EmptyReply:
            if loop.is_continued:  # it was whole already
                return ReplyOutcome.ANSWERED
            raise
        except WorkerExhausted:  # another worker may resume it
            await retry_while_database_down(partial(_save_loop, loop))
            raise
        if progress.is_ended:
            return ReplyOutcome.ENDED
        if progress.is_answer:
            return ReplyOutcome.ANSWERED
        if not progress.may_call:
            raise ToolStepsUsedUp
        if loop.calls_back:
            return ReplyOutcome.ANSWERED
        loop.tightening, loop.text = progress.tightening, str(progress.text)
        sink.show_calls()


async def _load_and_open(load_loop: Callable[[], _Loop]) -> _Loop:
    """Load the loop and, where nothing is to be waited for, open the row of its first request: in one thread.

    A loop that was loaded is kept when opening is tried again: the row may be stored already, with that window.
    """
    making, opening, loaded = asyncio.current_task(), RowOpening(), list[_Loop]()

    def begin() -> _Loop:
        if not loaded:
            loaded.append(load_loop())
        [loop] = loaded
        is_stopped = making is not None and making.cancelling()
        if loop.first and not loop.first.window.record.recall.limit_tokens and not is_stopped:
            loop.opened = open_ahead(loop.first, may_call=loop.may_call, holder=loop.holder, opening=opening)
        return loop

    return await open_or_settle(begin, find_row=lambda loop: loop.opened)


def _load_loop(reply_id: int, find_tools: FindTools, holder: RunHolder | None = None) -> _Loop:
    """Return the loop of a stored reply: at its first step, or where it awaited approval. Raises `PromptError`."""
    reply = load_reply(reply_id)
    toolbox = find_tools(reply) if takes_tools(reply.conversation) else NO_TOOLS
    loop = _Loop(
        reply,
        holder or RunHolder(reply.run_worker, reply.run_attempt),  # type: ignore[attr-defined]  # annotated
        toolbox,
        advertised_tools=toolbox,
        step=1,
        position=reply.position,
        text="",  # a worker that has lost the run may have saved some late
        calls=[],
    )
    if reply.text_before:  # type: ignore[attr-defined]  # annotated
        _load_text_so_far(loop)
    elif reply.has_called:  # type: ignore[attr-defined]  # annotated
        loop.text, loop.reasoning = reply.content, stored_reasoning(reply)
        loop.step += reply.steps.filter(role="assistant").count()
        # Behind calls that a program has answered, it is the first request of its own.
        loop.calls, loop.was_requested = calls_of_step(reply_id, loop.step), _was_requested(reply)
        loop.time.used_before_seconds, loop.tightening = _saved_loop(reply_id)
        if not toolbox.tools:  # they have been removed from the scenario while approval was awaited
            loop.advertised_tools = withdrawn_tools(call.name for call in map(sent_call, loop.calls))
    elif not reply.may_be_looked_up and not searches_web(reply.conversation):  # type: ignore[attr-defined]  # annotated
        loop.first = prepare_reply(reply_id, toolbox=toolbox, reply=reply)
    return loop


def _load_text_so_far(loop: _Loop) -> None:
    """Let the loop go on behind the text that was there when the reply was continued.

    Calls of its last step that were stopped stay as they are; the others are in the prompt.
    """
    reply = loop.reply
    run = Run.objects.get(reply=reply)
    loop.is_continued, loop.was_requested = True, _was_requested(reply)
    loop.text = reply.content[: run.text_before]
    loop.reasoning = replace(stored_reasoning(reply), text=reply.reasoning[: run.reasoning_before])
    loop.step += reply.steps.filter(role="assistant").count()
    if loop.step > 1 and not loop.toolbox.tools:
        called = ToolCall.objects.filter(reply=reply, message__isnull=False)
        loop.advertised_tools = withdrawn_tools(call.name for call in map(sent_call, called))


def _was_requested(reply: Message) -> bool:
    return bool(reply.completions.filter(window__isnull=False).exists())


def _saved_loop(reply_id: int) -> tuple[float, Decimal]:
    """Return the seconds and the tightening that `_save_loop` has stored."""
    return Run.objects.values_list("tool_seconds", "tightening").get(reply_id=reply_id)


def _save_loop(loop: _Loop) -> None:
    Run.objects.filter(reply_id=loop.reply.pk).update(tool_seconds=loop.time.used_seconds, tightening=loop.tightening)


def _scenario_tools(reply: Message) -> Toolbox:
    return reply_toolbox(reply.conversation)


def _current_tools(reply_id: int, find_tools: FindTools) -> Toolbox:
    """Return the tools, read again: while a reply is made some may be removed, or a server disabled."""
    scenario = "conversation__scenario"
    replies = Message.objects.select_related(scenario).only(f"{scenario}__tools", f"{scenario}__owner")
    return find_tools(replies.get(pk=reply_id))


async def _look_up(loop: _Loop, sink: ReplySink) -> LookedUp | None:
    """Return the grounding of the question, once its documents have been read; None where there is nothing to look in.

    The web is searched meanwhile.
    """
    if loop.first:
        return None
    if loop.is_resumed:
        return await retry_while_database_down(partial(looked_up_before, loop.reply.pk))
    searching = asyncio.create_task(_search_web(loop, sink))
    try:
        if loop.reply.may_have_to_wait:  # type: ignore[attr-defined]  # annotated
            await wait_for_documents(loop.reply.pk)
        return await look_up(loop.reply.pk, web=searching)
    finally:
        searching.cancel()


async def _search_web(loop: _Loop, sink: ReplySink) -> WebFindings | None:
    """Search the web for the question, and say so while it lasts; None where that is not wanted."""
    if not searches_web(loop.reply.conversation):
        return None
    await retry_while_database_down(partial(_note_web_search, loop, lasts=True))
    sink.show_web_search(lasts=True)
    findings = await search_web(loop.reply)
    await retry_while_database_down(partial(_note_web_search, loop, lasts=False))
    sink.show_web_search(lasts=False)
    return findings


def _note_web_search(loop: _Loop, *, lasts: bool) -> None:
    held = Run.objects.filter(reply_id=loop.reply.pk, worker=loop.holder.worker, attempt=loop.holder.attempt)
    held.update(searches_web_now=lasts)


async def _recall(loop: _Loop, grounding: LookedUp | None) -> Recalled | None:
    """Return what is recalled of messages before the window; None where there are none, or recall is off.

    The window is chosen without recall first, which tells where it begins: recall does not move that.
    """
    if loop.is_resumed:
        return await retry_while_database_down(partial(recalled_before, loop.reply.pk))
    first = await _choose_window(loop, grounding, None)
    loop.first, record = first, first.window.record
    if not record.recall.limit_tokens:
        return None
    loop.first, loop.without_recall = None, first
    limit_tokens = record.recall.limit_tokens
    return await recall(loop.reply, before_position=record.first_position, limit_tokens=limit_tokens)


async def _choose_window(loop: _Loop, grounding: LookedUp | None, recalled: Recalled | None) -> PreparedReply:
    """Choose the window of the current step, unless that has been done."""
    first, loop.first = loop.first, None
    if first:
        return first
    prepare = partial(prepare_reply, toolbox=loop.advertised_tools, tightening=loop.tightening)
    if loop.step == 1 and recalled:
        prepare = partial(prepare, without_recall=loop.without_recall)
    loop.without_recall = None  # its prompt is as long as the one that is sent
    return await retry_while_database_down(partial(prepare, loop.reply.pk, grounding, recalled=recalled))


def _store_calls(loop: _Loop, progress: StepProgress) -> None:
    """Store the calls that the step asks for, and let the loop have them."""
    is_cut = progress.end is not None and end_of(progress.end.finish_reason) != "whole"
    calls = progress.calls.calls(step=loop.step, is_cut=is_cut)
    kept = progress.kept_reasoning()
    if loop.calls_back:
        store_program_calls(loop.reply.pk, calls=calls, kept=kept, holder=loop.holder)
        return
    loop.calls = store_calls(
        loop.reply.pk, step=loop.step, calls=calls, toolbox=loop.toolbox, kept=kept, holder=loop.holder
    )


async def _finish_calls(loop: _Loop, runner: ToolRunner, sink: ReplySink) -> bool:
    """Run the calls of the step that may be run. Once all have ended, store the step and begin the next.

    Returns False if a call awaits approval.
    """
    while ready := _ready(loop):  # some are allowed while others run
        await run_calls(loop.calls, runner)
        loop.calls = await retry_while_database_down(partial(calls_of_step, loop.reply.pk, loop.step))
        if ready & _ready(loop):
            raise ReplyInterrupted  # the run has been taken away
    if any(call.state == ToolCallState.AWAITING_APPROVAL for call in loop.calls):
        sink.show_calls()
        return False
    if not all(call.has_ended for call in loop.calls):
        raise RuntimeError(f"calls of reply {loop.reply.pk} have not ended")
    await finish_before_cancelling(_begin_next_step(loop, sink))
    return True


def _ready(loop: _Loop) -> set[int]:
    return {call.pk for call in loop.calls if call.state == ToolCallState.READY}


async def _begin_next_step(loop: _Loop, sink: ReplySink) -> None:
    """Store the step and begin the next. Stopped in between, the reply would end with the text of a step before it."""
    store = partial(store_step, loop.reply.pk, step=loop.step, text=loop.text, reasoning=sink.reasoning)
    store = partial(store, holder=loop.holder)
    loop.position = await retry_while_database_down(store)
    loop.step, loop.calls, loop.text = loop.step + 1, [], ""
    sink.begin_step(loop.step, position=loop.position, text="")
