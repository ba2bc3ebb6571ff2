"""Retrieve passages for a question: lexical search always, semantic search where there is an embeddings model."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

from conversations.core.documents.fusion import Candidate, Fused, fuse
from conversations.core.errors import AccessError, ConversationError, LookUpTooCostly, ProviderTimedOut
from conversations.core.errors.stored_errors import is_code_of
from conversations.core.window.window_record import LookUp
from conversations.live.database_retries import retry_while_database_down
from conversations.live.database_threads import in_look_up_thread
from conversations.models import Conversation
from conversations.providers.catalog.embedding_models import ConfiguredEmbeddingModel, embedding_model

from .lexical_search import lexical_search
from .search_scope import Question, load_question
from .semantic_search import semantic_search

logger = logging.getLogger(__name__)
MOST_CANDIDATES = 50
SEARCH_SECONDS = 10.0  # with its wait: of a user one search runs at a time, and of all users a few
VECTOR_SECONDS = 4.0
SHARE_OF_EACH = 0.3  # of the time for all: two searches, and the embeddings model between them
Embed = Callable[..., Awaitable[list[list[float]]]]
Search = Callable[..., list[Candidate]]

_turns: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()  # by user


@dataclass(frozen=True, slots=True)
class SearchTimeouts:
    """How long each search may take, its wait for a turn included, and the embeddings model."""

    search_seconds: float
    vector_seconds: float

    @classmethod
    def within(cls, seconds: float) -> SearchTimeouts:
        """Return timeouts that together end before so many *seconds*."""
        share = SHARE_OF_EACH * seconds
        return cls(min(share, SEARCH_SECONDS), min(share, VECTOR_SECONDS))


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The *passages*, best first, for the *question* of a reply or for another query, and how they were searched."""

    question: Question
    passages: list[Fused]
    look_up: LookUp


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """The *candidates* of one search, best first, or None with the reason *why* it found none."""

    candidates: list[Candidate] | None = None
    why: str = ""


async def retrieve_passages(
    reply_id: int, *, embed: Embed | None, query: str | None = None, timeouts: SearchTimeouts | None = None
) -> Retrieval | None:
    """Retrieve passages of the documents in the scope of a reply: for *query*, else for the reply's question.

    *embed* turns texts into vectors; without it the search is lexical alone. None where there is no document. A search
    or an embeddings model that fails or takes too long is left out, and the result says so.
    """
    model = embedding_model()
    load = partial(load_question, reply_id, embedding_model=model.label if model else "")
    question = await retry_while_database_down(load)
    if question is None:
        return None
    timeouts = timeouts or SearchTimeouts(SEARCH_SECONDS, VECTOR_SECONDS)
    lookup = _Lookup(reply_id, question, question.query if query is None else query, timeouts)
    lexical = await lookup.search(lexical_search, lookup.query)
    semantic = SearchOutcome()
    if model and embed and question.embedded:
        semantic = await lookup.search_semantically(model, embed)
    elif model:
        semantic = SearchOutcome(why=_reason_without_vectors(question))
    passages = await in_look_up_thread(_fused)(lexical, semantic)
    return Retrieval(question, passages, _describe(question, lexical, semantic))


@dataclass(frozen=True, slots=True)
class _Lookup:
    """One retrieval: the query and its time limits."""

    reply_id: int
    question: Question
    query: str
    timeouts: SearchTimeouts

    async def search(self, search: Search, *arguments: Any, **options: Any) -> SearchOutcome:
        """Search in the user's turn, and give up a search that takes too long: it would hold up other replies."""
        turn = _turns.setdefault(self.question.owner_id, asyncio.Lock())
        try:
            async with asyncio.timeout(self.timeouts.search_seconds), turn:
                work = partial(search, self.reply_id, *arguments, **options, most=MOST_CANDIDATES)
                return SearchOutcome(await retry_while_database_down(work, in_thread=in_look_up_thread))
        except (LookUpTooCostly, TimeoutError):
            logger.warning("question %d: %s took too long", self.question.id, search.__name__)
            return SearchOutcome(why=LookUpTooCostly.code)

    async def search_semantically(self, model: ConfiguredEmbeddingModel, embed: Embed) -> SearchOutcome:
        try:
            async with asyncio.timeout(self.timeouts.vector_seconds):
                vector = await self._vector(embed)
        except TimeoutError:
            logger.warning("reply %d: no vector in %s seconds", self.reply_id, self.timeouts.vector_seconds)
            return SearchOutcome(why=ProviderTimedOut.code)
        except ConversationError as error:
            logger.warning("reply %d: no vector: %s", self.reply_id, error.code)
            return SearchOutcome(why=error.code)
        return await self.search(semantic_search, vector, model=model.label, floor=model.floor)

    async def _vector(self, embed: Embed) -> list[float]:
        conversations = Conversation.objects.select_related("owner")
        conversation = await retry_while_database_down(partial(conversations.get, pk=self.question.conversation_id))
        [vector] = await embed([self.query], user=conversation.owner, conversation=conversation)
        return vector


def _reason_without_vectors(question: Question) -> str:
    """Return why documents have no vectors; not that their uploader had no money left, which concerns no one else."""
    return "" if is_code_of(question.embedding_error, AccessError) else question.embedding_error


def _fused(*searches: SearchOutcome) -> list[Fused]:
    rankings = [found.candidates for found in searches if found.candidates is not None]
    return fuse(rankings, most=MOST_CANDIDATES)


def _describe(question: Question, lexical: SearchOutcome, semantic: SearchOutcome) -> LookUp:
    return LookUp(
        documents=question.ready,
        searched_by="lexical" if semantic.candidates is None else "lexical_and_semantic",
        semantic_error=semantic.why,
        lexical_error=lexical.why,
        pending_documents=question.pending_documents,
    )
