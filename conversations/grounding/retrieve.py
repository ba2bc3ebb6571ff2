"""Find passages for what is asked: by words always, and by meaning where there is an embeddings model."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

from conversations.core.documents.fusion import Candidate, Fused, fuse
from conversations.core.errors import AccessError, ConversationError, LookUpTooCostly, ProviderTimedOut
from conversations.core.errors.stored_errors import is_code_of
from conversations.core.window.window_record import LookUp
from conversations.live.database_threads import in_look_up_thread, in_worker_thread
from conversations.models import Conversation
from conversations.providers.catalog.embedding_models import ConfiguredEmbeddingModel, embedding_model

from .lexical_search import search_by_words
from .search_scope import Question, read_question
from .semantic_search import search_by_meaning

logger = logging.getLogger(__name__)
MOST_CANDIDATES = 50
SEARCH_SECONDS = 10.0  # with the person's other searches, of which one goes on at a time, and with everybody's
VECTOR_SECONDS = 4.0
SHARE_OF_EACH = 0.3  # of the time for all: two searches, and the embeddings model between them
Embed = Callable[..., Awaitable[list[list[float]]]]
Search = Callable[..., list[Candidate]]

_turns: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()  # by person


@dataclass(frozen=True, slots=True)
class Patience:
    """How long each search may take, with its turn, and the embeddings model."""

    search_seconds: float
    vector_seconds: float

    @classmethod
    def within(cls, seconds: float) -> Patience:
        """Return what ends before so many *seconds*, whatever takes too long."""
        share = SHARE_OF_EACH * seconds
        return cls(min(share, SEARCH_SECONDS), min(share, VECTOR_SECONDS))


@dataclass(frozen=True, slots=True)
class Finding:
    """*passages*, best first, that were found for the *question* of a reply, or for other words of it, and how."""

    question: Question
    passages: list[Fused]
    look_up: LookUp


@dataclass(frozen=True, slots=True)
class Found:
    """*candidates* of one search, best first, or None with the reason *why* there was none."""

    candidates: list[Candidate] | None = None
    why: str = ""


async def find_passages(
    reply_id: int, *, embed: Embed | None, asked: str | None = None, patience: Patience | None = None
) -> Finding | None:
    """Find passages where the question of a reply may be looked up: for what is *asked*, else for the question itself.

    *embed* turns texts into vectors; without it the search is by words alone. None where there is no document. An
    embeddings model that fails or takes too long is told and done without; and so
    is a search.
    """
    model = embedding_model()
    question = await in_worker_thread(read_question)(reply_id, embedding_model=model.label if model else "")
    if question is None:
        return None
    patience = patience or Patience(SEARCH_SECONDS, VECTOR_SECONDS)
    sought = _Sought(reply_id, question, question.content if asked is None else asked, patience)
    by_words = await sought.search(search_by_words, sought.words)
    by_meaning = Found()
    if model and embed and question.embedded:
        by_meaning = await sought.by_meaning(model, embed)
    elif model:
        by_meaning = Found(why=_why_without_vectors(question))
    passages = await in_look_up_thread(_fused)(by_words, by_meaning)
    return Finding(question, passages, _how(question, by_words, by_meaning))


@dataclass(frozen=True, slots=True)
class _Sought:
    """What is looked for, and with how much patience."""

    reply_id: int
    question: Question
    words: str
    patience: Patience

    async def search(self, search: Search, *what: Any, **how: Any) -> Found:
        """Search in the person's turn. What takes too long is given up: no documents hold up everybody's replies."""
        turn = _turns.setdefault(self.question.owner_id, asyncio.Lock())
        try:
            async with asyncio.timeout(self.patience.search_seconds), turn:
                return Found(await in_look_up_thread(search)(self.reply_id, *what, **how, most=MOST_CANDIDATES))
        except (LookUpTooCostly, TimeoutError):
            logger.warning("question %d: %s took too long", self.question.id, search.__name__)
            return Found(why=LookUpTooCostly.code)

    async def by_meaning(self, model: ConfiguredEmbeddingModel, embed: Embed) -> Found:
        try:
            async with asyncio.timeout(self.patience.vector_seconds):
                vector = await self._vector(embed)
        except TimeoutError:
            logger.warning("reply %d: no vector in %s seconds", self.reply_id, self.patience.vector_seconds)
            return Found(why=ProviderTimedOut.code)
        except ConversationError as error:
            logger.warning("reply %d: no vector: %s", self.reply_id, error.code)
            return Found(why=error.code)
        return await self.search(search_by_meaning, vector, model=model.label, floor=model.floor)

    async def _vector(self, embed: Embed) -> list[float]:
        conversations = Conversation.objects.select_related("owner")
        conversation = await in_worker_thread(conversations.get)(pk=self.question.conversation_id)
        [vector] = await embed([self.words], user=conversation.owner, conversation=conversation)
        return vector


def _why_without_vectors(question: Question) -> str:
    """Return why documents have none. That whoever brought them has no money for it says nothing to who asks."""
    return "" if is_code_of(question.embedding_error, AccessError) else question.embedding_error


def _fused(*searches: Found) -> list[Fused]:
    rankings = [found.candidates for found in searches if found.candidates is not None]
    return fuse(rankings, most=MOST_CANDIDATES)


def _how(question: Question, by_words: Found, by_meaning: Found) -> LookUp:
    return LookUp(
        documents=question.ready,
        searched_by="lexical" if by_meaning.candidates is None else "lexical_and_semantic",
        semantic_error=by_meaning.why,
        lexical_error=by_words.why,
        unread=question.unread,
    )
