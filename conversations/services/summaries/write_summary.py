"""Write a summary: what it was so far + what has left the window → a language model → the new text, piece by piece.

Each piece is one request with its row of the ledger, a time limit and a limit of what it may write. An answer that is
empty, cut off, longer than it may be or than what it replaces, or in another writing system, is refused. Pieces before
it count: the text then stands for as many messages as it was made of.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from conversations.core.errors import (
    CompletionError,
    ConversationError,
    ProviderTimedOut,
    StreamBroken,
    WrittenSummaryCutOff,
    WrittenSummaryEmpty,
    WrittenSummaryForeign,
    WrittenSummaryTooLong,
)
from conversations.core.prompt.messages import Prompt
from conversations.core.prompt.summary_text import render_summarized, summary_request
from conversations.core.text.storable_text import UNSTORABLE
from conversations.core.text.writing_system import is_in_another_writing_system
from conversations.core.window.budget import CountText
from conversations.live.database_threads import in_indexer_thread
from conversations.models import Completion
from conversations.models.completion import Purpose
from conversations.providers.clients.completions import CompletionClient
from conversations.providers.tokens.tokenizer import count_prompt
from conversations.providers.wire.completion_request import CompletionRequest
from conversations.providers.wire.completion_stream import CompletionEnd, ReasoningDelta, TextDelta
from conversations.services.counting.model_context import ModelContext, named_model_context
from conversations.services.ledger.ledger import NewCompletion, Outcome, open_completion
from conversations.services.ledger.provider_attempts import finish_before_cancelling, open_row, settle_row

from .claim_summary import HeldSummary, SourceMessage, renew_lease

PIECE_TOKENS = 6_000
SMALLEST_PIECE_TOKENS = 100
THOUGHT_TOKENS = 2_000  # what a model may write beside the summary, where its reply reserve has room for it
HOLD = """
SELECT FROM conversations_conversation AS conversation
WHERE conversation.id = %s AND conversation.deleted_at IS NULL FOR KEY SHARE
"""


class SummaryLost(Exception):
    """Another worker holds it, or what it was written of is not so any more."""


@dataclass(frozen=True, slots=True)
class WrittenSummary:
    """The new *text*, made of the *messages* that were added, by *language_model*.

    *error* is why not all of them were; without any message nothing was written.
    """

    text: str
    messages: Sequence[SourceMessage]
    language_model: str
    error: ConversationError | None = None


@dataclass(slots=True)
class _Received:
    """What has come of one request so far: at most *most_tokens*, whatever the provider goes on sending."""

    most_tokens: int
    count_text: CountText
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
            raise WrittenSummaryTooLong
        to.append(text)

    def outcome(self, duration_seconds: float, error_code: str = "", *, not_billed: bool = False) -> Outcome:
        return Outcome(
            text="".join((*self.thoughts, *self.pieces)),
            usage=self.end.usage if self.end else None,
            not_billed=not_billed,
            finish_reason=(self.end.finish_reason or "") if self.end else "",
            error_code=error_code,
            provider_request_id=self.end.provider_request_id if self.end else "",
            duration_seconds=duration_seconds,
        )


@dataclass(frozen=True, slots=True)
class SummaryWriting:
    """The writing of one summary by the language model of *writer*."""

    held: HeldSummary
    writer: ModelContext
    client: CompletionClient

    @property
    def max_output_tokens(self) -> int:
        limit_tokens, reserve_tokens = self.held.limit_tokens, self.writer.language_model.reply_reserve_tokens
        return min(limit_tokens + THOUGHT_TOKENS, max(limit_tokens, reserve_tokens))

    def pieces(self) -> Iterator[list[SourceMessage]]:
        """Yield the messages to add, oldest first, as many at once as the writer's window holds."""
        limit_tokens = self._material_tokens()
        piece: list[SourceMessage] = []
        tokens = 0
        for message in self.held.messages:
            more = self.writer.count_text(render_summarized(message.said)) + 2
            if piece and tokens + more > limit_tokens:
                yield piece
                piece, tokens = [], 0
            piece.append(message)
            tokens += more
        if piece:
            yield piece

    def _material_tokens(self) -> int:
        """Return how many tokens of messages one request may hold, beside the instructions and a whole summary."""
        model = self.writer.language_model
        bare = count_prompt(summary_request("", [], limit_tokens=self.held.limit_tokens), language_model=model)
        room = int((model.context_window_tokens - self.max_output_tokens) / self.writer.calibration)
        before = self.writer.count_text(self.held.base.text) if self.held.base else 0
        left = room - bare - max(before, self.held.limit_tokens) * 2
        return max(SMALLEST_PIECE_TOKENS, min(PIECE_TOKENS, left))

    async def write(self) -> WrittenSummary:
        """Write it, as far as it can be written. Raises `SummaryLost`."""
        text, done, error = self.held.base.text if self.held.base else "", [], None
        name = self.writer.language_model.name
        for piece in self.pieces():
            if not await in_indexer_thread(renew_lease)(self.held):
                raise SummaryLost
            try:
                text = await self._write_piece(text, piece)
            except ConversationError as stopped_by:
                error = stopped_by
                break
            done += piece
        if error is None:
            return WrittenSummary(text, done, name)
        return WrittenSummary(text, done, name, error)

    async def _write_piece(self, previous: str, piece: Sequence[SourceMessage]) -> str:
        said = [message.said for message in piece]
        prompt = summary_request(previous, said, limit_tokens=self.held.limit_tokens)
        text = await self._ask(prompt)
        self._check(text, previous, [message.text for message in said])
        return text

    def _check(self, text: str, previous: str, said: Sequence[str]) -> None:
        """Refuse a text that does not stand for what it replaces. Raises an `UnusableSummary`."""
        count = self.held.context.count_text
        if not text:
            raise WrittenSummaryEmpty
        replaced_tokens = count(previous) + sum(map(count, said))
        if count(text) > min(self.held.limit_tokens, replaced_tokens):
            raise WrittenSummaryTooLong
        if is_in_another_writing_system(text, "\n".join((previous, *said))):
            raise WrittenSummaryForeign

    async def _ask(self, prompt: Prompt) -> str:
        """Make one request, with its row of the ledger, and return what the model wrote."""
        request = CompletionRequest(self.writer.language_model.name, prompt, max_output_tokens=self.max_output_tokens)
        completion = await open_row(partial(self._open, request))
        received = _Received(self.max_output_tokens, self.writer.count_text)
        began = time.monotonic()
        try:
            await self._receive(request, received)
        except (CompletionError, asyncio.CancelledError) as ended_by:
            code = "" if isinstance(ended_by, asyncio.CancelledError) else ended_by.code
            not_billed = isinstance(ended_by, CompletionError) and not ended_by.may_be_billed
            outcome = received.outcome(time.monotonic() - began, code, not_billed=not_billed)
            await finish_before_cancelling(settle_row(completion, outcome))
            raise
        await finish_before_cancelling(settle_row(completion, received.outcome(time.monotonic() - began)))
        if received.end and received.end.finish_reason != "stop":
            raise WrittenSummaryCutOff
        return received.text

    async def _receive(self, request: CompletionRequest, received: _Received) -> None:
        try:
            async with asyncio.timeout(settings.SUMMARY_SECONDS), aclosing(self.client.stream(request)) as events:
                async for event in events:
                    if isinstance(event, TextDelta):
                        received.add(received.pieces, event.text)
                    elif isinstance(event, ReasoningDelta):
                        received.add(received.thoughts, event.text)
                    elif isinstance(event, CompletionEnd):
                        received.end = event
        except TimeoutError as error:
            raise ProviderTimedOut(detail="the summary took longer than SUMMARY_SECONDS") from error
        if received.end is None or not received.end.finish_reason:
            raise StreamBroken(detail="the stream ended without a finish reason")

    def _open(self, request: CompletionRequest) -> Completion:
        """Open the row of the ledger. Raises `SummaryLost` if the conversation is gone, or an `AccessError`."""
        held, writer = self.held, self.writer
        tokens = count_prompt(request.prompt, language_model=writer.language_model)
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(HOLD, [held.conversation.pk])
            if cursor.fetchone() is None:
                raise SummaryLost
            return open_completion(
                NewCompletion(
                    purpose=Purpose.SUMMARY,
                    user=held.conversation.owner,
                    language_model=request.language_model,
                    body=request.to_wire(base_url=writer.configured.base_url),
                    prices=writer.unit_prices(at=timezone.now()),
                    prompt_tokens=tokens,
                    most_prompt_tokens=int(tokens * writer.calibration) + 1,
                    max_output_tokens=self.max_output_tokens,
                    attempt=held.attempt,
                    conversation=held.conversation,
                )
            )


def summary_writing(held: HeldSummary, client: CompletionClient) -> SummaryWriting:
    """Return the writing of *held*, by the model of the setting, or by the conversation's own."""
    writer = named_model_context(settings.SUMMARY_MODEL) if settings.SUMMARY_MODEL else held.context
    return SummaryWriting(held, writer, client)
