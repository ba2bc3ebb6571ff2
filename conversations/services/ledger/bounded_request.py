"""A bounded request beside replies, for a summary or a title: its row of the ledger, its time and what it may write.

The row is opened before the request leaves, with its worst case reserved, and settled however it ends. What comes is
read only up to the tokens that were asked for, whatever the provider goes on sending. Nothing is repeated here.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial

from django.db import transaction
from django.utils import timezone

from conversations.core.errors import CompletionError, ProviderTimedOut, StreamBroken
from conversations.core.prompt.finish_reasons import end_of
from conversations.core.prompt.messages import Prompt
from conversations.core.text.storable_text import UNSTORABLE
from conversations.core.window.budget import CountText
from conversations.models import Completion, Conversation
from conversations.models.completion import Purpose
from conversations.providers.clients.completions import CompletionClient
from conversations.providers.openai_api.completion_request import CompletionRequest
from conversations.providers.openai_api.completion_stream import (
    CompletionEnd,
    ReasoningDelta,
    TextDelta,
    TextWasReasoning,
)
from conversations.providers.tokens.tokenizer import count_prompt
from conversations.services.language_models.model_context import ModelContext

from .ledger import NewCompletion, Outcome, open_completion
from .provider_attempts import finish_before_cancelling, known_errors, open_row, settle_row


@dataclass(slots=True)
class _Received:
    """What has come of one request so far: at most *most_tokens*, or *too_long* is raised."""

    most_tokens: int
    count_text: CountText
    too_long: type[CompletionError]
    pieces: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    end: CompletionEnd | None = None
    tokens: int = 0

    @property
    def text(self) -> str:
        return UNSTORABLE.sub("", "".join(self.pieces)).strip()

    def add(self, to: list[str], text: str) -> None:
        self.tokens += self.count_text(text)
        if self.tokens > self.most_tokens:
            raise self.too_long
        to.append(text)

    def take_back_text(self) -> None:
        """Note that what has come as text was thought before the answer."""
        self.thoughts += self.pieces
        self.pieces.clear()

    def outcome(self, duration_seconds: float, error_code: str = "", *, not_billed: bool = False) -> Outcome:
        return Outcome(
            text="".join((*self.thoughts, *self.pieces)),
            usage=self.end.usage if self.end else None,
            not_billed=not_billed,
            finish_reason=(self.end.finish_reason or "") if self.end else "",
            error_code=error_code,
            provider_request_id=self.end.provider_request_id if self.end else "",
            response_model=self.end.language_model if self.end else "",
            duration_seconds=duration_seconds,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedRequest:
    """A request to the language model of *writer* about *conversation*, whose owner pays.

    *lock* is called in the transaction that opens the row of the ledger: it keeps there what the request is about, and
    raises what ends the work if that is not so any more. An answer of more than *max_output_tokens* is *too_long*, one
    that the provider ended before its end *cut_off*.
    """

    purpose: Purpose
    conversation: Conversation
    writer: ModelContext
    prompt: Prompt
    max_output_tokens: int
    timeout_seconds: float
    attempt: int
    lock: Callable[[], None]
    too_long: type[CompletionError]
    cut_off: type[CompletionError]

    async def ask(self, client: CompletionClient) -> str:
        """Make the request and return what the model wrote. Raises a `CompletionError`, or an `AccessError`."""
        request = CompletionRequest(
            self.writer.language_model.name,
            self.prompt,
            max_output_tokens=self.max_output_tokens,
            dialect=self.writer.configured.dialect,
        )
        completion = await open_row(partial(self._open, request))
        received = _Received(self.max_output_tokens, self.writer.count_text, self.too_long)
        began = time.monotonic()
        try:
            with known_errors():
                await self._receive(client, request, received)
        except (CompletionError, asyncio.CancelledError) as ended_by:
            code = "" if isinstance(ended_by, asyncio.CancelledError) else ended_by.code
            not_billed = isinstance(ended_by, CompletionError) and not ended_by.may_be_billed
            outcome = received.outcome(time.monotonic() - began, code, not_billed=not_billed)
            await finish_before_cancelling(settle_row(completion, outcome))
            raise
        await finish_before_cancelling(settle_row(completion, received.outcome(time.monotonic() - began)))
        if received.end and end_of(received.end.finish_reason) != "whole":
            raise self.cut_off
        return received.text

    async def _receive(self, client: CompletionClient, request: CompletionRequest, received: _Received) -> None:
        try:
            async with asyncio.timeout(self.timeout_seconds), aclosing(client.stream(request)) as events:
                async for event in events:
                    if isinstance(event, TextDelta):
                        received.add(received.pieces, event.text)
                    elif isinstance(event, ReasoningDelta):
                        received.add(received.thoughts, event.text)
                    elif isinstance(event, TextWasReasoning):
                        received.take_back_text()
                    elif isinstance(event, CompletionEnd):
                        received.end = event
        except TimeoutError as error:
            raise ProviderTimedOut(detail=f"it took longer than {self.timeout_seconds:g} s") from error
        if received.end is None or not received.end.finish_reason:
            raise StreamBroken(detail="the stream ended without a finish reason")

    def _open(self, request: CompletionRequest, opening_key: uuid.UUID) -> Completion:
        """Open the row of the ledger. Raises what *lock* raises, or an `AccessError`."""
        writer = self.writer
        tokens = count_prompt(request.prompt, language_model=writer.language_model)
        with transaction.atomic():
            self.lock()
            return open_completion(
                NewCompletion(
                    purpose=self.purpose,
                    user=self.conversation.owner,
                    language_model=request.language_model,
                    body=request.to_json(),
                    prices=writer.unit_prices(at=timezone.now()),
                    prompt_tokens=tokens,
                    most_prompt_tokens=int(tokens * writer.calibration) + 1,
                    max_output_tokens=self.max_output_tokens,
                    attempt=self.attempt,
                    conversation=self.conversation,
                    opening_key=opening_key,
                )
            )
