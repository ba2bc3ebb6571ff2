"""The importer, beside the run worker: imports the exports that users have sent, one at a time, behind all replies.

It rests after each batch, in a thread of its own; the lease is kept by the batches themselves.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from operator import attrgetter

from conversations.live.database_threads import in_importer_thread
from conversations.live.fanout import IMPORTS, Subscriber, subscribe, unsubscribe
from conversations.services.imports.import_claim import ClaimedImport, ImportLost, claim_import, release_import
from conversations.services.imports.run_import import import_batches

from .process_name import name_process
from .repeated_work import BREATH_SECONDS, repeat_work

logger = logging.getLogger(__name__)
LAST_WORDS_SECONDS = 5.0
REST_SHARE = 0.1  # of the time that the batch took


class Importer:
    """`start` and `drain` belong to one event loop."""

    def __init__(self) -> None:
        self._name = name_process()
        self._more = asyncio.Event()
        self._subscriber: Subscriber | None = None
        self._duty: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._subscriber = Subscriber(lambda payload: self._more.set())
        subscribe(IMPORTS, self._subscriber)
        duty = repeat_work(self._import_next, self._more, attrgetter("imports"))
        self._duty = asyncio.create_task(duty, name="import conversations")

    async def drain(self) -> None:
        """Stop behind the present batch: another worker goes on with the next one."""
        if self._subscriber:
            unsubscribe(IMPORTS, self._subscriber)
        if self._duty:
            self._duty.cancel()
            await asyncio.wait([self._duty], timeout=LAST_WORDS_SECONDS)

    async def _import_next(self) -> bool:
        """Do one import, to its end. Returns whether there was one."""
        claimed = await in_importer_thread(claim_import)(self._name)
        if claimed is None:
            return False
        try:
            await self._import(claimed)
        except ImportLost:
            logger.info("import %d was deleted, or taken over", claimed.id)
        except asyncio.CancelledError:
            await in_importer_thread(release_import)(claimed)
            raise
        return True

    async def _import(self, claimed: ClaimedImport) -> None:
        batches = import_batches(claimed)
        while True:
            began = time.monotonic()
            if not await in_importer_thread(_do_next)(batches):
                return
            await asyncio.sleep(max(BREATH_SECONDS, REST_SHARE * (time.monotonic() - began)))


def _do_next(batches: Iterator[None]) -> bool:
    """Do one batch. Returns False once there is none."""
    for _ in batches:
        return True
    return False
