"""Fair queue: how much of one user's work a process does at once. The rest waits in the order in which it came.

A turn is held for as long as the work takes. A user who has more waiting than a page ever asks for leaves the process
to others for twice as long as each turn took: two turns run beside each other, and so a flood takes up less than one
thread. Where most of the work is outside of the turn, the pause has a shortest length. For whom there is no room in the
queue either, the refusal comes after a moment.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

CROWD = 8  # more than a page asks for at once
PAUSE_PER_TURN = 2
LONGEST_PAUSE_SECONDS = 1.0
REFUSAL_SECONDS = 1.0  # or who asks again at once would keep the process busy with refusals


class QueueFull(Exception):
    """Too many wait already."""


class UserTurns:
    """*at_once* turns of each user, and *most_waiting* places in the queue for them. Belongs to one event loop."""

    def __init__(
        self,
        *,
        at_once: int,
        most_waiting: int,
        shortest_pause_seconds: float = 0.0,
        refusal_seconds: float | None = None,
    ) -> None:
        self._at_once, self._most_waiting = at_once, most_waiting
        self._shortest_pause_seconds = shortest_pause_seconds
        self._refusal_seconds = REFUSAL_SECONDS if refusal_seconds is None else refusal_seconds
        self._taken: dict[Hashable, int] = {}
        self._waiting: dict[Hashable, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def turn(self, user: Hashable) -> AsyncIterator[None]:
        """Wait for a turn of *user* and hold it. Raises `QueueFull`."""
        await self._take(user)
        began = time.monotonic()
        try:
            yield
        finally:
            if len(self._waiting.get(user, ())) > CROWD:
                pause_seconds = min(PAUSE_PER_TURN * (time.monotonic() - began), LONGEST_PAUSE_SECONDS)
                pause_seconds = max(pause_seconds, self._shortest_pause_seconds)
                asyncio.get_running_loop().call_later(pause_seconds, self._give_back, user)
            else:
                self._give_back(user)

    async def _take(self, user: Hashable) -> None:
        if self._taken.get(user, 0) < self._at_once:
            self._taken[user] = self._taken.get(user, 0) + 1
            return
        queue = self._waiting.setdefault(user, deque())
        if len(queue) >= self._most_waiting:
            await asyncio.sleep(self._refusal_seconds)
            raise QueueFull
        mine = asyncio.get_running_loop().create_future()
        queue.append(mine)
        try:
            await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled():  # it was given the turn at the same moment
                self._give_back(user)
            raise

    def _give_back(self, user: Hashable) -> None:
        """Hand the turn to the first who still waits."""
        queue = self._waiting.get(user, deque())
        while queue:
            first = queue.popleft()
            if not first.done():
                first.set_result(None)
                return
        self._waiting.pop(user, None)
        if self._taken[user] == 1:
            del self._taken[user]  # a user who is idle takes no memory
        else:
            self._taken[user] -= 1
