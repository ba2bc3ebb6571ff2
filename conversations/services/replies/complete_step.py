"""Complete one step of a reply: choose the window, open its row of the ledger, stream the completion, settle the row.

Before the first token a request that may succeed unchanged is retried at most twice, and once more with a smaller
window if the provider finds the prompt too long. If the money does not cover the requests that may follow a tool call,
the step asks for an answer without tools.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import uuid
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Protocol

from django.db import transaction
from django.utils import timezone

from conversations import metrics
from conversations.access import lock_admitted
from conversations.core.errors import (
    CompletionError,
    ContextTooLong,
    ConversationError,
    EmptyReply,
    ProviderTimedOut,
    RoomUsedUpByReasoning,
    StreamBroken,
    WorkerExhausted,
)
from conversations.core.money.unit_prices import UnitPrices
from conversations.core.prompt.finish_reasons import LENGTH, end_of
from conversations.core.prompt.messages import PromptMessage
from conversations.core.prompt.packed_prompt import pack_prompt
from conversations.core.prompt.pictures import digests_in, fill_in_scaled, sizes_to_scale_to
from conversations.core.window.window_record import WindowRecord
from conversations.live.database_retries import retry_while_database_down
from conversations.models import Completion
from conversations.models.completion import Purpose
from conversations.models.run import RunHolder
from conversations.providers.clients.completions import CompletionClient
from conversations.providers.openai_api.completion_request import CompletionRequest
from conversations.providers.openai_api.completion_stream import (
    CompletionEnd,
    CompletionEvent,
    ReasoningDelta,
    TextDelta,
    TextWasReasoning,
    ToolCallDelta,
)
from conversations.selectors.conversations.pictures import data_urls
from conversations.services.language_models.model_choice import reply_effort
from conversations.services.language_models.model_context import ModelContext, conversation_context
from conversations.services.ledger.ledger import NewCompletion, open_completion, settle_completion
from conversations.services.ledger.provider_attempts import (
    MOST_ATTEMPTS,
    RowOpening,
    finish_before_cancelling,
    known_errors,
    open_row,
    raise_final_error,
    retry_pause_seconds,
    settle_row,
)
from conversations.services.ledger.reservations import LoopNotCovered, WrittenText, requests_after, worst_loop_usd
from conversations.services.limits.key_limits import check_key_money, lock_open_key
from conversations.services.windows.scaled_pictures import scale_pictures

from .end_reply import EndText, end_answered
from .prepare_reply import PreparedReply, prepare_answer, prepare_tighter
from .reasoning import NO_REASONING, Reasoning
from .reply_limit import ReplyLimit
from .step_progress import StepProgress

logger = logging.getLogger(__name__)
MOST_GUESSES = 5  # of a smaller prompt, each half of the one before, where the provider names no number


class TextSink(Protocol):
    """Where what a completion says goes as it comes."""

    def append(self, text: str) -> None: ...

    def take_back_text(self) -> None: ...

    def append_reasoning(self, text: str) -> None: ...

    def pause_reasoning(self) -> None: ...

    def end_attempt(self, *, reasoning_tokens: int | None) -> None: ...


class ReplySink(TextSink, Protocol):
    """Where a reply goes while it is made."""

    @property
    def text(self) -> str:
        """What the current step says so far; of a reply that is continued, behind what it said before."""
        ...

    @property
    def reasoning(self) -> Reasoning:
        """What has been thought in the current step, in all of its attempts."""
        ...

    def show_web_search(self, *, lasts: bool) -> None: ...

    def begin_step(self, step: int, *, position: int, text: str, reasoning: Reasoning = NO_REASONING) -> None: ...

    def show_calls(self) -> None: ...

    def record_window(self, record: WindowRecord) -> None: ...


@dataclass(frozen=True, slots=True)
class StepRequest:
    """The request of a step. Tools may be called only if both the step and its window allow it.

    It may leave only while *holder* holds the reply's run.
    """

    prepared: PreparedReply
    step_may_call: bool = True
    holder: RunHolder | None = None

    @property
    def may_call(self) -> bool:
        return self.step_may_call and self.prepared.window.record.may_call

    @property
    def model(self) -> ModelContext:
        return self.prepared.model

    def packed(self) -> StepRequest:
        """Return it with its prompt in less memory: from now on it is needed only where an attempt has failed."""
        prepared = self.prepared
        window = replace(prepared.window, prompt=pack_prompt(prepared.window.prompt))
        return replace(self, prepared=replace(prepared, window=window))

    def completion_request(self) -> CompletionRequest:
        conversation, record = self.prepared.reply.conversation, self.prepared.window.record
        return CompletionRequest(
            language_model=record.language_model,
            prompt=self.prepared.window.prompt,
            max_output_tokens=record.reply_reserve_tokens,
            sampling=conversation.scenario.sampling,
            tools=self.prepared.toolbox.schemas,
            may_call=self.may_call,
            cache_key=str(conversation.public_id),
            dialect=self.model.configured.dialect,
            effort=reply_effort(conversation),
        )


async def complete_step(
    prepare: Callable[[], Awaitable[PreparedReply]],
    *,
    sink: ReplySink,
    client: CompletionClient,
    may_call: bool = True,
    holder: RunHolder | None = None,
    store_calls: Callable[[StepProgress], object] = lambda _: None,
    opened: Completion | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> StepProgress:
    """Ask the provider for the next step, appending its text to *sink*. Returns the answer, or the calls it asks for.

    *prepare* chooses the window; *opened* is the row of its first attempt, if `open_ahead` has opened it. What the step
    gave is stored in the transaction that settles its request, calls by *store_calls*: a worker that is killed
    afterwards has lost nothing that was paid for. An answer without calls ends its reply then, too, as long as *holder*
    holds the run: `is_ended` of what is returned says whether it did. Raises the `ConversationError` that ended the
    step. A cancellation closes the connection to the provider and settles the ledger before it goes on; its message is
    the error code, empty if a person stopped the reply.
    """
    plan = partial(_plan, sink, may_call, holder)
    request = await plan(prepare())
    tightened = 0
    for attempt in itertools.count(1):
        try:
            completion = opened or await open_row(partial(open_step, request, attempt))
        except LoopNotCovered:  # the money does not cover what may follow a call, but maybe an answer
            request = await plan(retry_while_database_down(partial(prepare_answer, request.prepared)))
            completion = await open_row(partial(open_step, request, attempt))
        opened, request = None, request.packed()
        progress = StepProgress(request.may_call, request.prepared.tightening, request.model)
        try:
            await _attempt(request, completion, progress, sink, client, store_calls)
            return progress
        except CompletionError as error:
            if progress.has_begun:
                raise
            if isinstance(error, ContextTooLong) and tightened < (1 if error.names_a_number else MOST_GUESSES):
                preparing = retry_while_database_down(partial(prepare_tighter, request.prepared, error))
                request = await plan(preparing)
                tightened += 1
                continue
            pause_seconds = retry_pause_seconds(error, attempt, most_attempts=MOST_ATTEMPTS + tightened)
            # The provider may be working on it still, and bill it: each repetition is another full price.
            # And what this process lacks, it lacks a second later, too.
            if pause_seconds is None or isinstance(error, ProviderTimedOut | WorkerExhausted):
                raise_final_error(error)
                raise
            _tell_of_repetition(error, attempt, pause_seconds)
        await sleep(pause_seconds)
    raise AssertionError("the attempts have no end but these")


def _tell_of_repetition(error: CompletionError, attempt: int, pause_seconds: float) -> None:
    metrics.requests_repeated.labels(error.code).inc()
    logger.info(
        "a request to the provider is made again after a pause",
        extra={"error_code": error.code, "attempt": attempt, "pause_seconds": round(pause_seconds, 1)},
    )


async def _plan(
    sink: ReplySink, step_may_call: bool, holder: RunHolder | None, preparing: Awaitable[PreparedReply]
) -> StepRequest:
    """Wait until a window is chosen, tell the page which, and return the request that it makes.

    Its pictures are scaled down before its row of the ledger is opened: that keeps the digest of what is sent.
    """
    prepared = await preparing
    sink.record_window(prepared.window.record)
    window = prepared.window
    if sizes := sizes_to_scale_to(window.prompt):
        scaled = await scale_pictures(prepared.reply.conversation_id, sizes)
        prepared = replace(prepared, window=replace(window, prompt=fill_in_scaled(window.prompt, scaled)))
    return StepRequest(prepared, step_may_call, holder)


async def _attempt(
    request: StepRequest,
    completion: Completion,
    progress: StepProgress,
    sink: ReplySink,
    client: CompletionClient,
    store_calls: Callable[[StepProgress], object],
) -> None:
    """Make the request whose row of the ledger is open, and settle the row, with what the request gave."""
    try:
        with known_errors():
            await follow_completion(await _with_pictures(request.completion_request()), progress, sink, client)
    except (CompletionError, asyncio.CancelledError) as ended_by:
        await finish_before_cancelling(settle_row(completion, progress.outcome(ended_by)))
        raise
    settle = partial(_settle, request, completion, progress, sink.text, sink.reasoning, store_calls)
    try:
        await finish_before_cancelling(retry_while_database_down(settle))
    except asyncio.CancelledError:
        if progress.calls:  # a reply that is whole is too late to stop, but not what it would call
            raise


def _settle(
    request: StepRequest,
    completion: Completion,
    progress: StepProgress,
    text: str,
    reasoning: Reasoning,
    store_calls: Callable[[StepProgress], object],
) -> None:
    """Settle the row of a request that has come to its end, and store with it what it gave; an answer ends its reply.

    If the run may reserve money for later requests, its end is a transaction of its own: a trigger releases that money
    in other parts of the site's sums, and two transactions that lock two parts each might wait for each other.
    """
    outcome, tokens = progress.outcome(), request.model.content_tokens(PromptMessage("assistant", text))
    written = WrittenText(
        request.prepared.reply.pk,
        text,
        tokens,
        reasoning.text,
        reasoning.tokens if reasoning.text else None,
        reasoning.seconds if reasoning.text else None,
    )
    if progress.calls or request.holder is None:
        store = partial(store_calls, progress) if progress.is_to_call else None
        settle_completion(completion, outcome, written=written, store=store)
        return
    end = _EndOfReply(request, request.holder, EndText(text, tokens), reasoning, outcome.finish_reason)
    if request.prepared.may_hold_reservation:
        settle_completion(completion, outcome, written=written)
        with transaction.atomic():
            end()
    else:
        settle_completion(completion, outcome, written=written, end=end)
    progress.is_ended = end.was_done


@dataclass(slots=True)
class _EndOfReply:
    """The end of a reply whose answer is whole, as long as *holder* holds its run."""

    request: StepRequest
    holder: RunHolder
    text: EndText
    reasoning: Reasoning
    finish_reason: str
    was_done: bool = False

    def __call__(self) -> bool:
        self.was_done = end_answered(
            self.request.prepared.reply,
            self.text,
            self.reasoning,
            context=self.request.model,
            attempt=self.holder.attempt,
            finish_reason=self.finish_reason,
        )
        return self.was_done


async def _with_pictures(request: CompletionRequest) -> CompletionRequest:
    """Return *request* with the bytes of its pictures: they are read, beside the loop, only as it leaves."""
    digests = digests_in(request.prompt)
    if not digests:
        return request
    return replace(request, data_urls=await retry_while_database_down(partial(data_urls, digests)))


def open_ahead(
    prepared: PreparedReply, *, may_call: bool, holder: RunHolder | None, opening: RowOpening
) -> Completion | None:
    """Open the row of a step's first attempt in the thread that has just chosen its window: so one does for both.

    None where pictures have to be scaled down before, or where the request is refused: `complete_step` asks again then,
    once the page has been told of the window, and raises why.
    """
    if sizes_to_scale_to(prepared.window.prompt):
        return None
    try:
        return opening.open(partial(open_step, StepRequest(prepared, may_call, holder), 1))
    except (ConversationError, LoopNotCovered):
        return None


def open_step(request: StepRequest, attempt: int, opening_key: uuid.UUID | None = None) -> Completion:
    """Open the row of the ledger for a request, with its reservation. Raises what `open_completion` does."""
    prepared = request.prepared
    context = conversation_context(prepared.reply.conversation)
    record, prices = prepared.window.record, context.unit_prices(at=timezone.now())
    new = NewCompletion(
        purpose=Purpose.REPLY,
        user=prepared.reply.conversation.owner,
        language_model=record.language_model,
        body=request.completion_request().to_json(),
        prices=prices,
        prompt_tokens=record.prompt_tokens,
        most_prompt_tokens=record.most_prompt_tokens,
        max_output_tokens=record.reply_reserve_tokens,
        loop_usd=_loop_usd(request, prices),
        step=prepared.step,
        attempt=prepared.earlier_requests + attempt,
        record=record,
        conversation=prepared.reply.conversation,
        reply=prepared.reply,
        holder=request.holder,
        opening_key=opening_key or uuid.uuid4(),
        api_key_id=prepared.reply.run_api_key,  # type: ignore[attr-defined]  # annotated
    )
    return _open_within_key(new) if new.api_key_id else open_completion(new)


def _open_within_key(new: NewCompletion) -> Completion:
    """Open the row of a reply that a program asked for, if its key covers it and still opens something."""
    assert new.user is not None and new.api_key_id is not None  # noqa: S101, PT018 -- a reply has an owner
    with transaction.atomic():
        lock_admitted(new.user)
        check_key_money(lock_open_key(new.api_key_id), new.worst_usd)
        return open_completion(new)


def _loop_usd(request: StepRequest, prices: UnitPrices | None) -> Decimal | None:
    """Return what the requests that may follow can cost; None where no step of the reply may call tools."""
    prepared = request.prepared
    if not prepared.is_of_a_loop:
        return None
    requests = requests_after(prepared.step) if request.may_call else 0
    conversation = prepared.reply.conversation
    return worst_loop_usd(
        conversation.scenario,
        prices,
        requests=requests,
        reply_reserve_tokens=prepared.window.record.reply_reserve_tokens,
        context=conversation_context(conversation),
    )


async def follow_completion(
    request: CompletionRequest, progress: StepProgress, sink: TextSink, client: CompletionClient
) -> None:
    """Follow one completion to its end. Raises `StreamBroken` if it ends without saying why."""
    language_model, room_tokens = request.language_model, request.max_output_tokens
    limit = ReplyLimit(room_tokens, progress.model)
    stream = client.stream(request)
    del request  # which has the pictures of its prompt
    try:
        async with aclosing(stream) as events:
            async for event in events:
                _take(limit.cut(event), progress, sink)
                if limit.is_reached:
                    break  # the connection is closed with the stream
    finally:
        sink.end_attempt(reasoning_tokens=progress.reported_reasoning_tokens)
    if limit.is_reached:
        logger.warning("a reply was cut: the provider sent far more than it was asked for")
        progress.end = CompletionEnd(LENGTH, None, "", language_model)
    if progress.end is None or not progress.end.finish_reason:
        raise StreamBroken(detail="the stream ended without a finish reason")
    if progress.has_only_thought and end_of(progress.end.finish_reason) == "length":
        raise RoomUsedUpByReasoning(room_tokens=room_tokens or 0)
    if not progress.has_begun:
        raise EmptyReply


def _take(event: CompletionEvent, progress: StepProgress, sink: TextSink) -> None:
    if isinstance(event, TextDelta):
        progress.add(event.text)
        sink.append(event.text)
    elif isinstance(event, ReasoningDelta):
        progress.add_thought(event.text)
        sink.append_reasoning(event.text)
    elif isinstance(event, TextWasReasoning):
        progress.take_back_text()
        sink.take_back_text()
    elif isinstance(event, ToolCallDelta):
        progress.add_call(event)
        sink.pause_reasoning()
    elif isinstance(event, CompletionEnd):
        progress.end = event
