"""The pace at which streams of providers are read: all together every 40 ms, where their pieces come faster than that.

A wake-up for each piece costs more than the piece: of 50 streams at once each, a task, a queue, a frame, a write to a
socket. What has come until the next turn is one piece. The first word of a reply waits for no turn, and 40 ms are not
seen in a text that is being written.
"""

from __future__ import annotations

import asyncio
from typing import Final

TURN_SECONDS: Final = 0.04
CLOSE_SECONDS: Final = 1.5 * TURN_SECONDS  # pieces with longer between them gain nothing by a turn
SOON_SECONDS: Final = TURN_SECONDS / 8  # a turn that comes sooner is left out; the clock of uvloop has milliseconds
LARGE_BYTES: Final = 16_384  # a piece that shows that more waits than a turn should bring


class ReadTurns:
    """Turns that all streams of one event loop share: one timer wakes all that wait."""

    def __init__(self) -> None:
        self._waiting: list[asyncio.Future[None]] = []

    async def wait(self) -> None:
        """Wait for the next turn, at most 45 ms."""
        loop = asyncio.get_running_loop()
        if not self._waiting:
            turns_before = (loop.time() + SOON_SECONDS) // TURN_SECONDS
            loop.call_at((turns_before + 1) * TURN_SECONDS, self._wake)
        turn = loop.create_future()
        self._waiting.append(turn)
        await turn

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for turn in waiting:
            if not turn.done():  # its stream was closed meanwhile
                turn.set_result(None)


class ReadPace:
    """The pace of one stream: it waits for turns while its pieces are small and come close to each other.

    Without *turns* it waits for none.
    """

    def __init__(self, turns: ReadTurns | None) -> None:
        self._turns = turns
        self._clock = asyncio.get_running_loop().time
        self._came_at = float("-inf")

    async def wait_after(self, piece: bytes) -> None:
        """Wait until the next piece is to be read, after this one has been dealt with."""
        came_at = self._clock()
        is_close = came_at - self._came_at < CLOSE_SECONDS
        self._came_at = came_at
        if self._turns and is_close and len(piece) < LARGE_BYTES:
            await self._turns.wait()
