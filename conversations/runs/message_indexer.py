"""The message indexer, beside the run worker: brings the index of each conversation's messages up to date.

It shares the indexer's thread, and rests after each batch: replies come first.
"""

from __future__ import annotations

import asyncio
import time

from conversations.live.database_threads import in_indexer_thread
from conversations.live.fanout import MESSAGES, Subscriber, subscribe, unsubscribe
from conversations.services.recall.index_messages import index_next_batch

from .repeated_work import repeat_work

LAST_WORDS_SECONDS = 5.0
REST_SHARE = 0.25  # of the time that the batch took


class MessageIndexer:
    """`start` and `drain` belong to one event loop."""

    def __init__(self) -> None:
        self._more = asyncio.Event()
        self._subscriber: Subscriber | None = None
        self._duty: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._subscriber = Subscriber(self._hear)
        subscribe(MESSAGES, self._subscriber)
        self._duty = asyncio.create_task(repeat_work(_index_next, self._more), name="index messages")

    async def drain(self) -> None:
        """Stop after the batch that is being written; what is behind is found by the next start."""
        if self._subscriber:
            unsubscribe(MESSAGES, self._subscriber)
        if self._duty:
            self._duty.cancel()
            await asyncio.wait([self._duty], timeout=LAST_WORDS_SECONDS)

    def _hear(self, payload: str) -> None:
        self._more.set()


async def _index_next() -> bool:
    began = time.monotonic()
    if found := await in_indexer_thread(index_next_batch)():
        await asyncio.sleep(REST_SHARE * (time.monotonic() - began))
    return found
