"""Wait for a condition, never for a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from channels.db import database_sync_to_async

PATIENCE_SECONDS = 20
LOOK_AGAIN_SECONDS = 0.02


def in_thread(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Call *function*, which uses the database, outside the event loop."""
    return database_sync_to_async(function, thread_sensitive=False)(*arguments, **named)


async def wait_until(condition: Callable[[], Any], *, patience_seconds: float = PATIENCE_SECONDS) -> Any:
    """Return what *condition*, asked in a thread, says as soon as that is true."""
    async with asyncio.timeout(patience_seconds):
        while not (result := await in_thread(condition)):
            await asyncio.sleep(LOOK_AGAIN_SECONDS)
    return result
