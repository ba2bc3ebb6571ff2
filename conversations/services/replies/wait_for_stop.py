"""Wait until a reply whose stop was requested has ended: its worker, or the reaper, needs a moment for that.

Who waits is a coroutine between short looks: it holds neither a thread nor a database connection.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable

from conversations.models import Run
from conversations.models.run import RunState

LONGEST_WAIT_SECONDS = 15.0  # a worker that has just died holds its run for a lease, and is reaped after that
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.05, 0.5


def is_reply_stopping(public_id: uuid.UUID, *, owner_id: int | None) -> bool:
    """Return whether a reply of the owner's conversation has been asked to stop, and has not ended."""
    stopping = Run.objects.filter(
        reply__conversation__public_id=public_id,
        reply__conversation__owner_id=owner_id,
        stop_requested_at__isnull=False,
    )
    return stopping.exclude(state=RunState.ENDED).exists()


async def wait_for_stop(is_stopping: Callable[[], Awaitable[bool]]) -> None:
    """Look with *is_stopping* until it says no, at most `LONGEST_WAIT_SECONDS`."""
    pause, deadline = FIRST_PAUSE_SECONDS, asyncio.get_running_loop().time() + LONGEST_WAIT_SECONDS
    while await is_stopping() and asyncio.get_running_loop().time() < deadline:
        await asyncio.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
