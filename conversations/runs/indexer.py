"""The indexer, beside the run worker: parses and embeds documents, and keeps the tools of MCP servers listed.

All of it stands behind replies: two child processes that parse, for two users, one request for vectors, and a thread of
their own for the database, so that users who wait for a reply do not wait for them.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing
from operator import attrgetter

from django.conf import settings
from django.db import DataError

from chatsite.postgres.faults import is_passing_fault
from conversations.core.errors import CompletionError, ConversationError, DocumentError, MalformedEmbeddings
from conversations.live.database_threads import in_indexer_thread
from conversations.live.fanout import DOCUMENTS, DOCUMENTS_READ, Subscriber, publish, subscribe, unsubscribe
from conversations.parsing import (
    KindFound,
    Parsed,
    ParsedPassage,
    ParsingLimits,
    Progress,
    SkippedParts,
    parse_document,
)
from conversations.providers.catalog.embedding_models import embedding_model
from conversations.services.documents import embed_document, index_document
from conversations.services.documents.index_document import DocumentLost, HeldDocument
from conversations.services.grounding.embed_texts import embed_texts
from conversations.services.scenarios.mcp_servers import keep_tools_listed

from .process_name import name_process
from .repeated_work import BREATH_SECONDS, repeat_work

logger = logging.getLogger(__name__)

KEEP_SECONDS = 2.0
PARSED_AT_ONCE = 2
PASSAGES_AT_ONCE = 25
REMEMBERED_PEOPLE = 1_000
LAST_WORDS_SECONDS = 5.0


class Turns:
    """Whose documents had their turn last, the latest at the end."""

    def __init__(self) -> None:
        self._served: deque[int] = deque(maxlen=REMEMBERED_PEOPLE)

    def all(self) -> list[int]:
        return list(self._served)

    def give(self, user_id: int) -> None:
        with contextlib.suppress(ValueError):
            self._served.remove(user_id)
        self._served.append(user_id)


class Indexer:
    """`start` and `drain` belong to one event loop."""

    def __init__(self) -> None:
        self.name = name_process()
        self._read_turns, self._embed_turns = Turns(), Turns()
        self._to_read, self._to_embed = [asyncio.Event() for _ in range(PARSED_AT_ONCE)], asyncio.Event()
        self._subscriber: Subscriber | None = None
        self._duties: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        self._subscriber = Subscriber(self._hear)
        subscribe(DOCUMENTS, self._subscriber)
        self._duties = [
            *(
                asyncio.create_task(repeat_work(self._read_next, more, attrgetter("documents")), name="read documents")
                for more in self._to_read
            ),
            asyncio.create_task(repeat_work(self._embed_next, self._to_embed), name="embed passages"),
            asyncio.create_task(keep_tools_listed(), name="list tools"),
        ]

    async def drain(self) -> None:
        """Stop at once; other workers start over with what is half done: no user waits for it as for a reply."""
        if self._subscriber:
            unsubscribe(DOCUMENTS, self._subscriber)
        for duty in self._duties:
            duty.cancel()
        if self._duties:
            await asyncio.wait(self._duties, timeout=LAST_WORDS_SECONDS)

    def _hear(self, payload: str) -> None:
        self._look_for_documents()
        self._to_embed.set()

    def _look_for_documents(self) -> None:
        for more in self._to_read:
            more.set()

    async def _read_next(self) -> bool:
        """Read one document. Returns whether there was one."""
        claimed = await in_indexer_thread(index_document.claim_document)(self.name, self._read_turns.all())
        if claimed is None:
            return False
        held, user_id = claimed
        self._read_turns.give(user_id)
        if held:
            await _read(held)
            publish(DOCUMENTS_READ, "read")
            self._look_for_documents()  # the user may have more
            self._to_embed.set()
        return True

    async def _embed_next(self) -> bool:
        """Get the vectors of one batch. Returns whether there was one."""
        if (model := embedding_model()) is None:
            return False
        batch = await in_indexer_thread(embed_document.claim_batch)(self.name, self._embed_turns.all(), model)
        if batch is None:
            return False
        self._embed_turns.give(batch.document.uploader_id or 0)
        await _embed(batch)
        return True


async def _read(held: HeldDocument) -> None:
    """Read one document and write down how that ended; one that is gone ends without a word."""
    try:
        await _read_all(held)
        await in_indexer_thread(index_document.finish_document)(held)
    except DocumentLost:
        logger.info("document %d was deleted, or taken over, while it was read", held.id)
    except asyncio.CancelledError:
        with contextlib.suppress(DocumentLost):
            await in_indexer_thread(index_document.release_document)(held)
        raise
    except DocumentError as error:
        await _fail(held, error)
    except Exception as error:
        if is_passing_fault(error):
            raise  # the database is away: the lease runs out, and it is parsed again
        logger.exception("document %d could not be read", held.id)
        await _fail(held, DocumentError())


async def _fail(held: HeldDocument, error: DocumentError) -> None:
    with contextlib.suppress(DocumentLost):
        await in_indexer_thread(index_document.fail_document)(held, error)


async def _read_all(held: HeldDocument) -> None:
    """Store all passages of the document, while its lease is kept. Raises `DocumentLost` or a `DocumentError`."""
    content = await in_indexer_thread(index_document.read_file)(held)
    limits = ParsingLimits(seconds=settings.DOCUMENT_SECONDS, memory_megabytes=settings.DOCUMENT_MEMORY_MEGABYTES)
    parsing = Parsing(held, parse_document(content, name=held.name, encoding=held.encoding, limits=limits))
    storing, keeping = asyncio.create_task(parsing.store()), asyncio.create_task(parsing.keep())
    try:
        await asyncio.wait({storing, keeping}, return_when=asyncio.FIRST_COMPLETED)
        if keeping.done():  # it only ends by an error
            keeping.result()
        await storing
    finally:
        storing.cancel()
        keeping.cancel()
        await asyncio.gather(storing, keeping, return_exceptions=True)


class Parsing:
    """A document on its way from the child process into the database."""

    def __init__(self, held: HeldDocument, parsed: AsyncGenerator[Parsed]) -> None:
        self._held = held
        self._parsed = parsed
        self._percent = 0
        self._stored = 0
        self._unstored: list[ParsedPassage] = []

    async def store(self) -> None:
        """Store what comes, to its end. Closing the generator, which every other end does, ends the child."""
        async with aclosing(self._parsed) as parsed:
            async for piece in parsed:
                await self._take(piece)
        await self._store_batch()

    async def _take(self, piece: Parsed) -> None:
        if isinstance(piece, KindFound):
            await in_indexer_thread(index_document.store_kind)(self._held, piece.kind)
        elif isinstance(piece, Progress):
            self._percent = piece.percent
        elif isinstance(piece, SkippedParts):
            await in_indexer_thread(index_document.store_skipped_parts)(self._held, piece)
        else:
            self._unstored.append(piece)
            if len(self._unstored) == PASSAGES_AT_ONCE:
                began = time.monotonic()
                await self._store_batch()
                await asyncio.sleep(max(BREATH_SECONDS, time.monotonic() - began))

    async def _store_batch(self) -> None:
        batch, self._unstored = self._unstored, []
        if batch:
            await in_indexer_thread(index_document.store_passages)(self._held, batch, first_number=self._stored)
            self._stored += len(batch)

    async def keep(self) -> None:
        """Keep the document by its lease for as long as it is there."""
        while True:
            await asyncio.sleep(KEEP_SECONDS)
            await in_indexer_thread(index_document.keep_document)(self._held, percent=self._percent)


async def _embed(batch: embed_document.Batch) -> None:
    """Get the vectors of one batch and store them, or put it off."""
    document = batch.document
    try:
        vectors = await embed_texts(
            batch.texts, user=document.uploader, conversation=document.conversation, scenario=document.scenario
        )
        await in_indexer_thread(embed_document.store_vectors)(batch, vectors)
    except ConversationError as error:
        detail = error.detail if isinstance(error, CompletionError) else ""
        logger.warning("document %d has no vectors yet: %s %s", document.pk, error.code, detail)
        await in_indexer_thread(embed_document.postpone)(batch, error)
    except asyncio.CancelledError:
        await in_indexer_thread(embed_document.release_batch)(batch)
        raise
    except DataError:  # asked for again at once, they would be paid for again and again
        logger.exception("the database does not take the vectors of document %d", document.pk)
        await in_indexer_thread(embed_document.postpone)(batch, MalformedEmbeddings())
