"""The message counter, beside the run worker: counts messages again after a change to a model with another encoding.

It only comes before: what is not counted yet, also because nothing was heard of it, is counted with the next window.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging

from conversations.live.database_threads import in_indexer_thread
from conversations.live.fanout import COUNTS, Subscriber, subscribe, unsubscribe
from conversations.services.windows.recount_messages import recount_messages

logger = logging.getLogger(__name__)
LAST_WORDS_SECONDS = 5.0


class MessageCounter:
    """`start` and `drain` belong to one event loop."""

    def __init__(self) -> None:
        self._waiting: asyncio.Queue[int] = asyncio.Queue()
        self._subscriber: Subscriber | None = None
        self._duty: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._subscriber = Subscriber(self._hear)
        subscribe(COUNTS, self._subscriber)
        self._duty = asyncio.create_task(self._count_all(), name="count messages")

    async def drain(self) -> None:
        """Stop after the conversation that is being counted."""
        if self._subscriber:
            unsubscribe(COUNTS, self._subscriber)
        if self._duty:
            self._duty.cancel()
            await asyncio.wait([self._duty], timeout=LAST_WORDS_SECONDS)

    def _hear(self, payload: str) -> None:
        with contextlib.suppress(ValueError):
            self._waiting.put_nowait(int(payload))

    async def _count_all(self) -> None:
        while True:
            conversation_id = await self._waiting.get()
            try:
                await in_indexer_thread(recount_messages)(conversation_id)
            except Exception:
                logger.exception("conversation %d could not be counted; its next window does it", conversation_id)
