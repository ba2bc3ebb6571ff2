"""The message indexer, beside the run worker: brings the index of each conversation's messages up to date.

Where an embeddings model is configured, it gets the vectors of their passages too, a batch at a time. It shares the
indexer's thread, and rests after each batch: replies come first.
"""

from __future__ import annotations

import asyncio
import logging
import time
from operator import attrgetter

from django.db import DataError

from conversations.core.errors import CompletionError, ConversationError, MalformedEmbeddings
from conversations.live.database_threads import in_indexer_thread
from conversations.live.fanout import MESSAGES, Subscriber, subscribe, unsubscribe
from conversations.providers.catalog.embedding_models import ConfiguredEmbeddingModel, embedding_model
from conversations.services.grounding.embed_texts import embed_texts
from conversations.services.message_index.embed_messages import (
    MessageBatch,
    claim_message_batch,
    forget_other_models,
    postpone_messages,
    release_messages,
    store_message_vectors,
)
from conversations.services.message_index.index_messages import index_next_batch

from .repeated_work import repeat_work

logger = logging.getLogger(__name__)
LAST_WORDS_SECONDS = 5.0
REST_SHARE = 0.25  # of the time that the batch took
GATHER_SECONDS = 0.5  # between batches: what ends meanwhile comes into the same one, at little more cost


class MessageIndexer:
    """`start` and `drain` belong to one event loop."""

    def __init__(self) -> None:
        self._more, self._to_embed = asyncio.Event(), asyncio.Event()
        self._subscriber: Subscriber | None = None
        self._duties: list[asyncio.Task[None]] = []
        self._gathering: asyncio.TimerHandle | None = None
        self._looked_at = 0.0  # by the clock of the event loop
        self._label = ""  # of the embeddings model by whose name vectors were looked through

    async def start(self) -> None:
        self._subscriber = Subscriber(self._hear)
        subscribe(MESSAGES, self._subscriber)
        self._duties = [
            asyncio.create_task(
                repeat_work(self._index_next, self._more, attrgetter("messages")), name="index messages"
            ),
            asyncio.create_task(repeat_work(self._embed_next, self._to_embed), name="embed messages"),
        ]

    async def drain(self) -> None:
        """Stop after the batch that is being written; what is behind is found by the next start."""
        if self._subscriber:
            unsubscribe(MESSAGES, self._subscriber)
        if self._gathering:
            self._gathering.cancel()
        for duty in self._duties:
            duty.cancel()
        if self._duties:
            await asyncio.wait(self._duties, timeout=LAST_WORDS_SECONDS)

    def _hear(self, payload: str) -> None:
        if self._gathering is None:
            self._gathering = asyncio.get_running_loop().call_at(self._looked_at + GATHER_SECONDS, self._look)

    def _look(self) -> None:
        self._gathering = None
        self._looked_at = asyncio.get_running_loop().time()
        self._more.set()

    async def _index_next(self) -> bool:
        began = time.monotonic()
        if found := await in_indexer_thread(index_next_batch)():
            self._to_embed.set()
            await asyncio.sleep(REST_SHARE * (time.monotonic() - began))
        return found

    async def _embed_next(self) -> bool:
        """Get the vectors of one batch. Returns whether there was one."""
        if (model := embedding_model()) is None:
            return False
        if self._label != model.label:
            await in_indexer_thread(forget_other_models)(model)
            self._label = model.label
        return await embed_next_batch(model)


async def embed_next_batch(model: ConfiguredEmbeddingModel) -> bool:
    """Get the vectors of the next messages without one of *model*. Returns whether there were some."""
    batch = await in_indexer_thread(claim_message_batch)(model)
    if batch is None:
        return False
    await _embed(batch)
    return True


async def _embed(batch: MessageBatch) -> None:
    """Get the vectors of one batch and store them, or put it off: only the log says why."""
    try:
        vectors = await embed_texts(batch.texts, user=batch.payer, conversation=batch.conversation)
        await in_indexer_thread(store_message_vectors)(batch, vectors)
    except ConversationError as error:
        detail = error.detail if isinstance(error, CompletionError) else ""
        logger.warning("conversation %d has no vectors yet: %s %s", batch.conversation.pk, error.code, detail)
        await in_indexer_thread(postpone_messages)(batch, error)
    except asyncio.CancelledError:
        await in_indexer_thread(release_messages)(batch)
        raise
    except DataError:  # asked for again at once, they would be paid for again and again
        logger.exception("the database does not take the vectors of conversation %d", batch.conversation.pk)
        await in_indexer_thread(postpone_messages)(batch, MalformedEmbeddings())
