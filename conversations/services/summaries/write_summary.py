"""Write a summary: what it was so far + what has left the window → a language model → the new text, piece by piece.

Each piece is one request with its row of the ledger, a time limit and a limit of what it may write. An answer that is
empty, cut off, longer than it may be or than what it replaces, or in another writing system, is refused. Pieces before
it count: the text then stands for as many messages as it was made of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db import connection

from conversations.core.errors import (
    ConversationError,
    WrittenSummaryCutOff,
    WrittenSummaryEmpty,
    WrittenSummaryForeign,
    WrittenSummaryTooLong,
)
from conversations.core.prompt.messages import Prompt
from conversations.core.prompt.summary_text import render_summarized, summary_request
from conversations.core.text.writing_system import is_in_another_writing_system
from conversations.live.database_threads import in_indexer_thread
from conversations.models.completion import Purpose
from conversations.providers.clients.completions import CompletionClient
from conversations.providers.tokens.tokenizer import count_prompt
from conversations.services.language_models.model_context import ModelContext, named_model_context
from conversations.services.ledger.bounded_request import BoundedRequest

from .claim_summary import ClaimedSummary, SourceMessage, renew_lease

PIECE_TOKENS = 6_000
SMALLEST_PIECE_TOKENS = 100
THOUGHT_TOKENS = 2_000  # what a model may write beside the summary, where its reply reserve has room for it
LOCK = """
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


@dataclass(frozen=True, slots=True)
class SummaryWriting:
    """The writing of one summary by the language model of *writer*."""

    claimed: ClaimedSummary
    writer: ModelContext
    client: CompletionClient

    @property
    def max_output_tokens(self) -> int:
        limit_tokens, reserve_tokens = self.claimed.limit_tokens, self.writer.language_model.reply_reserve_tokens
        return min(limit_tokens + THOUGHT_TOKENS, max(limit_tokens, reserve_tokens))

    def pieces(self) -> Iterator[list[SourceMessage]]:
        """Yield the messages to add, oldest first, as many at once as the writer's window holds."""
        limit_tokens = self._material_tokens()
        piece: list[SourceMessage] = []
        tokens = 0
        for message in self.claimed.messages:
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
        bare = count_prompt(summary_request("", [], limit_tokens=self.claimed.limit_tokens), language_model=model)
        room = int((model.context_window_tokens - self.max_output_tokens) / self.writer.calibration)
        before = self.writer.count_text(self.claimed.base.text) if self.claimed.base else 0
        left = room - bare - max(before, self.claimed.limit_tokens) * 2
        return max(SMALLEST_PIECE_TOKENS, min(PIECE_TOKENS, left))

    async def write(self) -> WrittenSummary:
        """Write it, as far as it can be written. Raises `SummaryLost`."""
        text, done, error = self.claimed.base.text if self.claimed.base else "", [], None
        name = self.writer.language_model.name
        for piece in self.pieces():
            if not await in_indexer_thread(renew_lease)(self.claimed):
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
        prompt = summary_request(previous, said, limit_tokens=self.claimed.limit_tokens)
        text = await self._ask(prompt)
        self._check(text, previous, [message.text for message in said])
        return text

    def _check(self, text: str, previous: str, said: Sequence[str]) -> None:
        """Refuse a text that does not stand for what it replaces. Raises an `UnusableSummary`."""
        count = self.claimed.context.count_text
        if not text:
            raise WrittenSummaryEmpty
        replaced_tokens = count(previous) + sum(map(count, said))
        if count(text) > min(self.claimed.limit_tokens, replaced_tokens):
            raise WrittenSummaryTooLong
        if is_in_another_writing_system(text, "\n".join((previous, *said))):
            raise WrittenSummaryForeign

    async def _ask(self, prompt: Prompt) -> str:
        """Make one request, with its row of the ledger, and return what the model wrote."""
        request = BoundedRequest(
            purpose=Purpose.SUMMARY,
            conversation=self.claimed.conversation,
            writer=self.writer,
            prompt=prompt,
            max_output_tokens=self.max_output_tokens,
            timeout_seconds=settings.SUMMARY_SECONDS,
            attempt=self.claimed.attempt,
            lock=self._lock_what_is_sent,
            too_long=WrittenSummaryTooLong,
            cut_off=WrittenSummaryCutOff,
        )
        return await request.ask(self.client)

    def _lock_what_is_sent(self) -> None:
        """Keep the conversation until its row of the ledger is open. Raises `SummaryLost` if it is gone."""
        with connection.cursor() as cursor:
            cursor.execute(LOCK, [self.claimed.conversation.pk])
            if cursor.fetchone() is None:
                raise SummaryLost


def summary_writing(claimed: ClaimedSummary, client: CompletionClient) -> SummaryWriting:
    """Return the writing of *claimed*, by the model of the setting, or by the conversation's own."""
    writer = named_model_context(settings.SUMMARY_MODEL) if settings.SUMMARY_MODEL else claimed.context
    return SummaryWriting(claimed, writer, client)
