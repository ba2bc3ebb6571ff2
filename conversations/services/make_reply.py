"""Make one reply: window, ledger row, completion, ledger row settled.

Before the first token there are at most two retries of what may succeed unchanged, and one with a smaller window if the
provider finds the prompt too long. The worker calls it, gives it a place for the text, and ends the reply by what it
returns or raises.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from django.db import InterfaceError, OperationalError
from django.utils import timezone

from conversations.core.errors import CompletionError, ContextTooLong, EmptyReply, StreamBroken
from conversations.core.record import WindowRecord
from conversations.models import Completion
from conversations.models.completion import Purpose
from conversations.providers.completion_events import CompletionEnd, ReasoningDelta, TextDelta
from conversations.providers.completion_requests import CompletionRequest
from conversations.providers.completions import CompletionClient
from conversations.threads import in_worker_thread

from .language import language_of
from .ledger import NewCompletion, Outcome, open_completion, settle_completion
from .prepare_reply import PreparedReply, prepare_reply, prepare_tighter

R = TypeVar("R")
MOST_ATTEMPTS = 3
LONGEST_WAIT_SECONDS = 20.0
DATABASE_AWAY_SECONDS = 0.5  # until it is asked again
logger = logging.getLogger(__name__)


class ReplySink(Protocol):
    """Where a reply goes while it is made."""

    def record_window(self, record: WindowRecord) -> None: ...

    def append(self, text: str) -> None: ...


@dataclass(slots=True)
class Progress:
    """What has come of one attempt so far. Times are seconds of a monotonic clock."""

    started: float = field(default_factory=time.monotonic)
    pieces: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    first_token: float | None = None
    end: CompletionEnd | None = None

    def add(self, text: str) -> None:
        if self.first_token is None:
            self.first_token = time.monotonic()
        self.pieces.append(text)

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
            text="".join((*self.thoughts, *self.pieces)),
            usage=end.usage if end else None,
            not_billed=error is not None and not error.may_be_billed,
            finish_reason=finish_reason or "",
            error_code=error_code,
            provider_request_id=end.provider_request_id if end else error.request_id if error else "",
            time_to_first_token_seconds=self.first_token and self.first_token - self.started,
            duration_seconds=time.monotonic() - self.started,
        )


async def make_reply(
    reply_id: int,
    *,
    sink: ReplySink,
    client: CompletionClient,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Make the reply, appending to *sink*. Returns when it is complete.

    Raises the `ConversationError` that ended it otherwise. A cancellation closes the connection to the provider and
    settles the ledger before it goes on; its message is the error code, empty if a person stopped the reply.
    """
    prepared = await _announced(sink, in_worker_thread(prepare_reply)(reply_id))
    tightened = False
    for attempt in itertools.count(1):
        progress = Progress()
        try:
            await _attempt(prepared, attempt, progress, sink, client)
            return
        except CompletionError as error:
            if progress.pieces:
                raise
            if isinstance(error, ContextTooLong) and not tightened:
                prepared = await _announced(sink, in_worker_thread(prepare_tighter)(prepared, error))
                tightened = True
                continue
            wait_seconds = _wait_seconds(error, attempt)
            may_help = error.retryable and attempt < MOST_ATTEMPTS + tightened and wait_seconds <= LONGEST_WAIT_SECONDS
            if not may_help:
                raise
        await sleep(wait_seconds)


async def _announced(sink: ReplySink, preparing: Awaitable[PreparedReply]) -> PreparedReply:
    """Wait for a window to be chosen, and say which."""
    prepared = await preparing
    sink.record_window(prepared.window.record)
    return prepared


async def _attempt(
    prepared: PreparedReply, attempt: int, progress: Progress, sink: ReplySink, client: CompletionClient
) -> None:
    """Make one request, with its row of the ledger."""
    completion = await _open_row(prepared, attempt)
    try:
        await _stream(prepared, progress, sink, client)
    except (CompletionError, asyncio.CancelledError) as ended_by:
        await _see_through(_settle(completion, progress.outcome(ended_by)))
        raise
    with suppress(asyncio.CancelledError):  # the reply is whole: it is too late to stop it
        await _see_through(_settle(completion, progress.outcome()))


async def _open_row(prepared: PreparedReply, attempt: int) -> Completion:
    """Write the row of a request that is about to leave; if it may not leave any more, settle it."""
    opening = asyncio.ensure_future(in_worker_thread(_open)(prepared, attempt))
    try:
        return await _see_through(opening)
    except asyncio.CancelledError as cancelled:
        outcome = Outcome(not_billed=True, finish_reason="stopped", error_code="".join(cancelled.args))
        if opening.exception() is None:
            await _see_through(_settle(opening.result(), outcome))
        raise


def _open(prepared: PreparedReply, attempt: int) -> Completion:
    language = language_of(prepared.reply.conversation.scenario)
    record, request = prepared.window.record, _request(prepared)
    return open_completion(
        NewCompletion(
            purpose=Purpose.REPLY,
            user=prepared.reply.conversation.owner,
            language_model=record.language_model,
            body=request.to_wire(base_url=language.configured.base_url),
            prices=language.unit_prices(at=timezone.now()),
            prompt_tokens=record.prompt_tokens,
            most_prompt_tokens=record.most_prompt_tokens,
            max_output_tokens=record.reply_reserve_tokens,
            attempt=attempt,
            record=record,
            conversation=prepared.reply.conversation,
            reply=prepared.reply,
        )
    )


async def _stream(prepared: PreparedReply, progress: Progress, sink: ReplySink, client: CompletionClient) -> None:
    """Follow one completion to its end. Raises `StreamBroken` if it ends without saying why."""
    async with aclosing(client.stream(_request(prepared))) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                progress.add(event.text)
                sink.append(event.text)
            elif isinstance(event, ReasoningDelta):
                progress.thoughts.append(event.text)
            elif isinstance(event, CompletionEnd):
                progress.end = event
    if progress.end is None or not progress.end.finish_reason:
        raise StreamBroken(detail="the stream ended without a finish reason")
    if not progress.pieces:
        raise EmptyReply


def _request(prepared: PreparedReply) -> CompletionRequest:
    conversation = prepared.reply.conversation
    record = prepared.window.record
    return CompletionRequest(
        language_model=record.language_model,
        prompt=prepared.window.prompt,
        max_output_tokens=record.reply_reserve_tokens,
        sampling=conversation.scenario.sampling,
        cache_key=str(conversation.public_id),
    )


def _wait_seconds(error: CompletionError, attempt: int) -> float:
    """Return how long the provider asks us to wait; without a word of it, twice as long each time, with jitter."""
    if error.retry_after_seconds is not None:
        return error.retry_after_seconds
    return float(2 ** (attempt - 1)) * random.uniform(0.5, 1.0)  # noqa: S311  # not a secret


async def _settle(completion: Completion, outcome: Outcome) -> None:
    """Settle the row, and go on trying while the database is away: the request has been made."""
    while True:
        try:
            await in_worker_thread(settle_completion)(completion, outcome)
            return
        except (OperationalError, InterfaceError):
            logger.warning("completion %d could not be settled yet", completion.pk, exc_info=True)
            await asyncio.sleep(DATABASE_AWAY_SECONDS)


async def _see_through(work: Awaitable[R]) -> R:
    """Return what *work* returns; told to stop meanwhile, wait for its end, good or bad, and stop then."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
