"""Look up what answers a question: by words always, and by meaning where there is an embeddings model."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

from conversations.core.errors import AccessError, ConversationError, LookUpTooCostly, ProviderTimedOut
from conversations.core.fusion import Candidate, Fused, fuse
from conversations.core.prompt import Passage
from conversations.core.record import GroundingPassage, GroundingRecord, LookUp
from conversations.core.stored_errors import is_code_of
from conversations.models import Completion, Conversation
from conversations.providers.embedding_models import ConfiguredEmbeddingModel, embedding_model
from conversations.services.embed_texts import embed_texts
from conversations.services.keep_passages import keep_passages
from conversations.threads import in_look_up_thread, in_worker_thread

from .meaning import search_by_meaning
from .scope import Question, read_question
from .words import search_by_words

logger = logging.getLogger(__name__)
MOST_CANDIDATES = 50
PATIENCE_SECONDS = 4.0  # with the embeddings model: a person waits for the reply
LONGEST_TURN_SECONDS = 10.0  # with the person's other look-ups, of which one goes on at a time, and with everybody's
Embed = Callable[..., Awaitable[list[list[float]]]]
Search = Callable[..., list[Candidate]]

_turns: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()  # by person


@dataclass(frozen=True, slots=True)
class LookedUp:
    """*passages*, best first, by the numbers under which the question keeps them, and how they were found."""

    passages: tuple[Passage, ...]
    look_up: LookUp


@dataclass(frozen=True, slots=True)
class Found:
    """*candidates* of one search, best first, or None with the reason *why* there was none."""

    candidates: list[Candidate] | None = None
    why: str = ""


async def look_up(
    reply_id: int, *, embed: Embed = embed_texts, patience_seconds: float = PATIENCE_SECONDS
) -> LookedUp | None:
    """Find passages for the question of a reply, and keep them with it; None where there is no document to look in.

    An embeddings model that fails, or takes longer than *patience_seconds*, is told and does without; and so is a
    search that takes too long.
    """
    model = embedding_model()
    question = await in_worker_thread(read_question)(reply_id, embedding_model=model.label if model else "")
    if question is None:
        return None
    by_words = await _search(question, search_by_words, reply_id, question.content)
    by_meaning = Found()
    if model and question.embedded:
        by_meaning = await _by_meaning(reply_id, question, model, embed, patience_seconds)
    elif model:
        by_meaning = Found(why=_why_without_vectors(question))
    found = await in_look_up_thread(_fused)(by_words, by_meaning)
    passages = await in_worker_thread(keep_passages)(question.id, found) if found else ()
    return LookedUp(passages, _how(question, by_words, by_meaning))


def looked_up_before(reply_id: int) -> LookedUp | None:
    """Return what was looked up for the last request of a reply that goes on after it.

    What it has said cites passages by their places, so these stay, whatever documents have come since.
    """
    sent = Completion.objects.filter(reply_id=reply_id, window__isnull=False).order_by("-id")
    grounding, stored = sent.values_list("window__grounding", "reply__parent__grounding")[0]
    record = GroundingRecord.from_json(grounding)
    if record.look_up is None:
        return None
    found = [(stored[passage.number - 1], passage) for passage in (*record.included, *record.left_out)]
    passages = (_as_it_was(entry, passage) for entry, passage in found if entry.get("document"))
    return LookedUp(tuple(passages), record.look_up)


def _as_it_was(entry: Mapping[str, Any], passage: GroundingPassage) -> Passage:
    return Passage(entry["text"], entry["source"], passage.score, passage.number)


async def _search(question: Question, search: Search, *what: Any, **how: Any) -> Found:
    """Search in the person's turn. What takes too long is given up: nobody's documents hold up everybody's replies."""
    turn = _turns.setdefault(question.owner_id, asyncio.Lock())
    try:
        async with asyncio.timeout(LONGEST_TURN_SECONDS), turn:
            return Found(await in_look_up_thread(search)(*what, **how, most=MOST_CANDIDATES))
    except (LookUpTooCostly, TimeoutError):
        logger.warning("question %d: %s took too long", question.id, search.__name__)
        return Found(why=LookUpTooCostly.code)


def _why_without_vectors(question: Question) -> str:
    """Return why documents have none. That whoever brought them has no money for it says nothing to who asks."""
    return "" if is_code_of(question.embedding_error, AccessError) else question.embedding_error


async def _by_meaning(
    reply_id: int, question: Question, model: ConfiguredEmbeddingModel, embed: Embed, patience_seconds: float
) -> Found:
    try:
        conversation = await Conversation.objects.select_related("owner").aget(pk=question.conversation_id)
        async with asyncio.timeout(patience_seconds):
            [vector] = await embed([question.content], user=conversation.owner, conversation=conversation)
    except TimeoutError:
        logger.warning("reply %d: no vector of its question in %s seconds", reply_id, patience_seconds)
        return Found(why=ProviderTimedOut.code)
    except ConversationError as error:
        logger.warning("reply %d: no vector of its question: %s", reply_id, error.code)
        return Found(why=error.code)
    return await _search(question, search_by_meaning, reply_id, vector, model=model.label, floor=model.floor)


def _fused(*searches: Found) -> list[Fused]:
    rankings = [found.candidates for found in searches if found.candidates is not None]
    return fuse(rankings, most=MOST_CANDIDATES)


def _how(question: Question, by_words: Found, by_meaning: Found) -> LookUp:
    return LookUp(
        documents=question.ready,
        searched_by="words" if by_meaning.candidates is None else "words_and_meaning",
        why_by_words_only=by_meaning.why,
        why_not_by_words=by_words.why,
        unread=question.unread,
    )
