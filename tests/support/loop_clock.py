"""A clock of the event loop that tests put forward, so that they need not wait and no machine is too busy."""

from __future__ import annotations

import asyncio


class LoopClock:
    """The event loop's own clock, from now on."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._time, self._ahead_seconds = loop.time, 0.0
        loop.time = self.time

    def time(self) -> float:
        return self._time() + self._ahead_seconds

    async def pass_(self, seconds: float) -> None:
        """Let so much time go by, and what was to be done in it be done."""
        self._ahead_seconds += seconds
        for _ in range(3):
            await asyncio.sleep(0)
