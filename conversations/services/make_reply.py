"""Make one reply: look-up, window, ledger row, completion, ledger row settled.

Before the first token there are at most two retries of what may succeed unchanged, and one with a smaller window if the
provider finds the prompt too long. The worker calls it, gives it a place for the text, and ends the reply by what it
returns or raises.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from django.utils import timezone

from conversations.core.errors import CompletionError, ContextTooLong, EmptyReply, StreamBroken
from conversations.core.record import WindowRecord
from conversations.grounding.look_up import look_up
from conversations.models import Completion
from conversations.models.completion import Purpose
from conversations.providers.completion_events import CompletionEnd, ReasoningDelta, TextDelta
from conversations.providers.completion_requests import CompletionRequest
from conversations.providers.completions import CompletionClient
from conversations.threads import in_worker_thread

from .attempts import LONGEST_WAIT_SECONDS, MOST_ATTEMPTS, opened, seconds_until_next, see_through, settled
from .language import language_of
from .ledger import NewCompletion, Outcome, open_completion
from .prepare_reply import PreparedReply, prepare_reply, prepare_tighter


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
    looked_up = await look_up(reply_id)
    prepared = await _announced(sink, in_worker_thread(prepare_reply)(reply_id, looked_up))
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
            pause_seconds = seconds_until_next(error, attempt)
            may_help = error.retryable and attempt < MOST_ATTEMPTS + tightened and pause_seconds <= LONGEST_WAIT_SECONDS
            if not may_help:
                raise
        await sleep(pause_seconds)


async def _announced(sink: ReplySink, preparing: Awaitable[PreparedReply]) -> PreparedReply:
    """Wait for a window to be chosen, and say which."""
    prepared = await preparing
    sink.record_window(prepared.window.record)
    return prepared


async def _attempt(
    prepared: PreparedReply, attempt: int, progress: Progress, sink: ReplySink, client: CompletionClient
) -> None:
    """Make one request, with its row of the ledger."""
    completion = await opened(partial(_open, prepared, attempt))
    try:
        await _stream(prepared, progress, sink, client)
    except (CompletionError, asyncio.CancelledError) as ended_by:
        await see_through(settled(completion, progress.outcome(ended_by)))
        raise
    with suppress(asyncio.CancelledError):  # the reply is whole: it is too late to stop it
        await see_through(settled(completion, progress.outcome()))


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
