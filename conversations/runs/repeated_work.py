"""Work in the background that is repeated: as long as there is some, and else whenever more is announced."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable

logger = logging.getLogger(__name__)

POLL_SECONDS = 2.0  # without a word from `fanout` what waits is found this late
BREATH_SECONDS = 0.02  # between two batches, for other work in the process


async def repeat_work(work: Callable[[], Awaitable[bool]], more: asyncio.Event) -> None:
    """Do *work* as long as there is some, then wait for *more*. A database that is away ends nothing."""
    while True:
        more.clear()
        try:
            found = await work()
        except Exception:
            logger.exception("the indexer could not do its work; it will be tried again")
            found = False
        if found:
            await asyncio.sleep(BREATH_SECONDS)
            continue
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(more.wait(), POLL_SECONDS)
