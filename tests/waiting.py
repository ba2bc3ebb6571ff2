"""Wait for a condition, never for a time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from channels.db import database_sync_to_async
from django.db import connection

PATIENCE_SECONDS = 20
LOOK_AGAIN_SECONDS = 0.02
LOCK_WAITS = """
    SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()
"""


def in_thread(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Call *function*, which uses the database, outside the event loop."""
    return database_sync_to_async(function, thread_sensitive=False)(*arguments, **named)


async def wait_until(condition: Callable[[], Any], *, patience_seconds: float = PATIENCE_SECONDS) -> Any:
    """Return what *condition*, asked in a thread, says as soon as that is true."""
    async with asyncio.timeout(patience_seconds):
        while not (result := await in_thread(condition)):
            await asyncio.sleep(LOOK_AGAIN_SECONDS)
    return result


def wait_for_lock_waits(expected: int = 1) -> None:
    """Return once so many connections to the test database wait for a lock."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    with connection.cursor() as cursor:
        while _lock_waits(cursor) != expected:
            assert time.monotonic() < deadline, f"{expected} connections never waited for a lock"
            time.sleep(LOOK_AGAIN_SECONDS)


def _lock_waits(cursor: Any) -> int:
    cursor.execute("SELECT pg_stat_clear_snapshot()")  # inside a transaction the first answer would come again
    return int(cursor.execute(LOCK_WAITS).fetchone()[0])
