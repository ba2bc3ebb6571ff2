"""Wait for a condition, never for a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from channels.db import database_sync_to_async
from django.db import connection

from tests.support.patience import LOOK_AGAIN_SECONDS, PATIENCE_SECONDS, wait_for

LOCK_WAITS = """
    SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()
"""


def in_thread(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Call *function*, which uses the database, outside the event loop."""
    return database_sync_to_async(function, thread_sensitive=False)(*arguments, **named)


async def wait_until(condition: Callable[[], Any]) -> Any:
    """Return what *condition*, asked in a thread, says as soon as that is true."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not (result := await in_thread(condition)):
            await asyncio.sleep(LOOK_AGAIN_SECONDS)
    return result


async def wait_in_loop(condition: Callable[[], Any]) -> None:
    """Wait until *condition*, asked in the event loop, is true."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not condition():
            await asyncio.sleep(LOOK_AGAIN_SECONDS)


def wait_for_lock_waits(expected: int = 1) -> None:
    """Return once so many connections to the test database wait for a lock."""
    with connection.cursor() as cursor:
        wait_for(lambda: _lock_waits(cursor) == expected, f"{expected} connections wait for a lock")


def _lock_waits(cursor: Any) -> int:
    cursor.execute("SELECT pg_stat_clear_snapshot()")  # inside a transaction the first answer would come again
    return int(cursor.execute(LOCK_WAITS).fetchone()[0])
