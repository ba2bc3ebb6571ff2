"""One step of a reply: window, ledger row, completion, ledger row settled.

Before the first token there are at most two retries of what may succeed unchanged, and one with a smaller window if the
provider finds the prompt too long.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from typing import Protocol

from django.utils import timezone

from conversations.core.errors import CompletionError, ContextTooLong, EmptyReply, StreamBroken
from conversations.core.money.usage import UnitPrices
from conversations.core.window.window_record import WindowRecord
from conversations.live.database_threads import in_worker_thread
from conversations.models import Completion
from conversations.models.completion import Purpose
from conversations.providers.clients.completions import CompletionClient
from conversations.providers.wire.completion_events import CompletionEnd, ReasoningDelta, TextDelta, ToolCallDelta
from conversations.providers.wire.completion_requests import CompletionRequest
from conversations.providers.wire.tool_call_pieces import AskedCalls
from conversations.services.counting.model_context import model_context
from conversations.services.ledger.ledger import NewCompletion, Outcome, open_completion
from conversations.services.ledger.provider_attempts import (
    LONGEST_WAIT_SECONDS,
    MOST_ATTEMPTS,
    opened,
    seconds_until_next,
    see_through,
    settled,
)
from conversations.services.ledger.tool_loop_hold import LoopNotCovered, loop_usd, requests_after

from .prepare_reply import PreparedReply, prepare_answer, prepare_tighter


class ReplySink(Protocol):
    """Where a reply goes while it is made."""

    def begin_step(self, step: int, *, position: int, text: str) -> None: ...

    def show_calls(self) -> None: ...

    def record_window(self, record: WindowRecord) -> None: ...

    def append(self, text: str) -> None: ...


@dataclass(slots=True)
class Progress:
    """What has come of one attempt so far. Times are seconds of a monotonic clock.

    Calls that come though it *may_call* none are not to be run. Its window's budget was divided by *tightening*.
    """

    may_call: bool = True
    tightening: Decimal = Decimal(1)
    started: float = field(default_factory=time.monotonic)
    pieces: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: AskedCalls = field(default_factory=AskedCalls)
    first_token: float | None = None
    end: CompletionEnd | None = None

    @property
    def has_begun(self) -> bool:
        return bool(self.pieces or self.calls)

    def add(self, text: str) -> None:
        self._note_first()
        self.pieces.append(text)

    def add_call(self, delta: ToolCallDelta) -> None:
        self._note_first()
        self.calls.take(delta)

    def _note_first(self) -> None:
        if self.first_token is None:
            self.first_token = time.monotonic()

    def outcome(self, ended_by: BaseException | None = None) -> Outcome:
        """Return what the ledger keeps. A cancellation carries its error code, or none if a person stopped it."""
        end = self.end
        error = ended_by if isinstance(ended_by, CompletionError) else None
        error_code, finish_reason = "", end.finish_reason if end else None
        if error:
            error_code = error.code
        elif ended_by:
            error_code, finish_reason = "".join(ended_by.args), "stopped"
        return Outcome(
            text="".join((*self.thoughts, *self.pieces, self.calls.text)),
            called_tools=bool(self.calls),
            usage=end.usage if end else None,
            not_billed=error is not None and not error.may_be_billed,
            finish_reason=finish_reason or "",
            error_code=error_code,
            provider_request_id=end.provider_request_id if end else error.request_id if error else "",
            time_to_first_token_seconds=self.first_token and self.first_token - self.started,
            duration_seconds=time.monotonic() - self.started,
        )


async def complete_step(
    prepare: Callable[[], Awaitable[PreparedReply]],
    *,
    sink: ReplySink,
    client: CompletionClient,
    may_call: bool = True,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Progress:
    """Ask the provider for the next step, appending its text to *sink*. Returns what came of it, calls or a reply.

    *prepare* chooses the window. Raises the `ConversationError` that ended it otherwise. A cancellation closes the
    connection to the provider and settles the ledger before it goes on; its message is the error code, empty if a
    person stopped the reply.
    """
    prepared = await _announced(sink, prepare())
    tightened = False
    for attempt in itertools.count(1):
        asking, completion = await _opened(_Asking(prepared, attempt, may_call), sink)
        prepared, progress = asking.prepared, Progress(asking.may_call_now, asking.prepared.tightening)
        try:
            await _attempt(asking, completion, progress, sink, client)
            return progress
        except CompletionError as error:
            if progress.has_begun:
                raise
            if isinstance(error, ContextTooLong) and not tightened:
                prepared = await _announced(sink, in_worker_thread(prepare_tighter)(prepared, error))
                tightened = True
                continue
            pause_seconds = seconds_until_next(error, attempt)
            may_help = error.retryable and attempt < MOST_ATTEMPTS + tightened and pause_seconds <= LONGEST_WAIT_SECONDS
            if not may_help:
                raise
        await sleep(pause_seconds)
    raise AssertionError("the attempts have no end but these")


async def _announced(sink: ReplySink, preparing: Awaitable[PreparedReply]) -> PreparedReply:
    """Wait for a window to be chosen, and say which."""
    prepared = await preparing
    sink.record_window(prepared.window.record)
    return prepared


@dataclass(frozen=True, slots=True)
class _Asking:
    """One request of a step."""

    prepared: PreparedReply
    attempt: int
    may_call: bool

    @property
    def may_call_now(self) -> bool:
        return self.may_call and self.prepared.window.record.may_call

    @property
    def request(self) -> CompletionRequest:
        conversation, record = self.prepared.reply.conversation, self.prepared.window.record
        return CompletionRequest(
            language_model=record.language_model,
            prompt=self.prepared.window.prompt,
            max_output_tokens=record.reply_reserve_tokens,
            sampling=conversation.scenario.sampling,
            tools=self.prepared.toolbox.schemas,
            may_call=self.may_call_now,
            cache_key=str(conversation.public_id),
        )


async def _opened(asking: _Asking, sink: ReplySink) -> tuple[_Asking, Completion]:
    """Open the row of the ledger; where the money does not cover what may follow a call, that of an answer."""
    try:
        return asking, await opened(partial(_open, asking))
    except LoopNotCovered:
        answer = await _announced(sink, in_worker_thread(prepare_answer)(asking.prepared))
        asking = replace(asking, prepared=answer)
        return asking, await opened(partial(_open, asking))


async def _attempt(
    asking: _Asking, completion: Completion, progress: Progress, sink: ReplySink, client: CompletionClient
) -> None:
    """Make the request of an open row of the ledger, and settle that."""
    try:
        await _stream(asking.request, progress, sink, client)
    except (CompletionError, asyncio.CancelledError) as ended_by:
        await see_through(settled(completion, progress.outcome(ended_by)))
        raise
    try:
        await see_through(settled(completion, progress.outcome()))
    except asyncio.CancelledError:
        if progress.calls:  # a reply that is whole is too late to stop, but not what it would call
            raise


def _open(asking: _Asking) -> Completion:
    prepared = asking.prepared
    context = model_context(prepared.reply.conversation.scenario)
    record, prices = prepared.window.record, context.unit_prices(at=timezone.now())
    return open_completion(
        NewCompletion(
            purpose=Purpose.REPLY,
            user=prepared.reply.conversation.owner,
            language_model=record.language_model,
            body=asking.request.to_wire(base_url=context.configured.base_url),
            prices=prices,
            prompt_tokens=record.prompt_tokens,
            most_prompt_tokens=record.most_prompt_tokens,
            max_output_tokens=record.reply_reserve_tokens,
            loop_usd=_loop_usd(asking, prices),
            step=prepared.step,
            attempt=asking.attempt,
            record=record,
            conversation=prepared.reply.conversation,
            reply=prepared.reply,
        )
    )


def _loop_usd(asking: _Asking, prices: UnitPrices | None) -> Decimal | None:
    """Return what the requests may cost that may follow; None where none of the reply ever might."""
    prepared = asking.prepared
    if not prepared.is_of_a_loop:
        return None
    requests = requests_after(prepared.step) if asking.may_call_now else 0
    return loop_usd(prepared.reply.conversation.scenario, prices, requests=requests)


async def _stream(request: CompletionRequest, progress: Progress, sink: ReplySink, client: CompletionClient) -> None:
    """Follow one completion to its end. Raises `StreamBroken` if it ends without saying why."""
    async with aclosing(client.stream(request)) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                progress.add(event.text)
                sink.append(event.text)
            elif isinstance(event, ToolCallDelta):
                progress.add_call(event)
            elif isinstance(event, ReasoningDelta):
                progress.thoughts.append(event.text)
            elif isinstance(event, CompletionEnd):
                progress.end = event
    if progress.end is None or not progress.end.finish_reason:
        raise StreamBroken(detail="the stream ended without a finish reason")
    if not progress.has_begun:
        raise EmptyReply
