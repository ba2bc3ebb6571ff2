"""Notes of this process's database pool, for the metrics of all processes that share theirs."""

from __future__ import annotations

import asyncio
import logging

from conversations.live.database_threads import in_worker_thread
from conversations.metrics import are_metrics_shared
from conversations.selectors.figures.live_gauges import note_pool_figures

logger = logging.getLogger(__name__)
NOTE_SECONDS = 5.0


class PoolNotes:
    """Writes them while the process runs, where metrics are shared. `start` and `drain` belong to one event loop."""

    def __init__(self) -> None:
        self._noting: asyncio.Task[None] | None = None

    async def start(self) -> None:
        if are_metrics_shared():
            self._noting = asyncio.create_task(self._note_for_ever(), name="pool notes")

    async def drain(self) -> None:
        if self._noting:
            self._noting.cancel()
            await asyncio.gather(self._noting, return_exceptions=True)

    async def _note_for_ever(self) -> None:
        while True:
            try:
                await in_worker_thread(note_pool_figures)()
            except Exception:
                logger.exception("the figures of the pool could not be noted; they will be again")
            await asyncio.sleep(NOTE_SECONDS)
