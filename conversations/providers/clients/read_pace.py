"""The pace at which streams of providers are read: all together every 40 ms, where their pieces come faster than that.

A wake-up for each piece costs more than the piece: of 50 streams at once each, a task, a queue, a frame, a write to a
socket. What has come until the next turn is one piece. The first word of a reply waits for no turn, and 40 ms are not
seen in a text that is being written.

Where a provider writes faster than its text is dealt with, pieces are large and wait for no turn, but for each other.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import Final

TURN_SECONDS: Final = 0.04
CLOSE_SECONDS: Final = 1.5 * TURN_SECONDS  # pieces with longer between them gain nothing by a turn
SOON_SECONDS: Final = TURN_SECONDS / 8  # a turn that comes sooner is left out; the clock of uvloop has milliseconds
# A piece that shows that more waits than a turn should bring. To deal with one takes milliseconds of the event loop.
LARGE_BYTES: Final = 16_384


class ReadTurns:
    """Turns that all streams of one event loop share: one timer wakes all that wait.

    Those that woke go on a few after the other, as much as is dealt with in a millisecond or two. In between all else
    of the loop is done: 40 streams that went on in each of its rounds kept pages waiting for ten seconds. And after
    large pieces the loop is left free for as long as they took, so that threads, which make pages, run as well.
    """

    def __init__(self) -> None:
        self._waiting: deque[_Turn] = deque()  # for the timer
        self._awake: deque[_Turn] = deque()
        self._is_waking = False
        self._woke_at = float("-inf")
        self._pause_seconds = 0.0

    async def wait(self, piece_bytes: int) -> None:
        """Wait for the next turn, at most 45 ms, after a piece of so many bytes."""
        loop = asyncio.get_running_loop()
        if not self._waiting:
            turns_before = (loop.time() + SOON_SECONDS) // TURN_SECONDS
            loop.call_at((turns_before + 1) * TURN_SECONDS, self._wake)
        self._waiting.append(_Turn(loop.create_future(), piece_bytes))
        await self._waiting[-1].begun

    async def let_others(self, piece_bytes: int) -> None:
        """Wait for no turn, only for the other streams that are awake."""
        loop = asyncio.get_running_loop()
        self._awake.append(_Turn(loop.create_future(), piece_bytes))
        took_seconds = loop.time() - self._woke_at
        self._pause_seconds = took_seconds if took_seconds < TURN_SECONDS else 0.0  # longer ago it was for another
        self._wake_after(self._pause_seconds)
        await self._awake[-1].begun

    def _wake(self) -> None:
        self._awake += self._waiting
        self._waiting.clear()
        if not self._is_waking:
            self._wake_some()

    def _wake_after(self, seconds: float) -> None:
        if not self._is_waking:
            self._is_waking = True
            asyncio.get_running_loop().call_later(seconds, self._wake_some)

    def _wake_some(self) -> None:
        self._is_waking, self._woke_at = False, asyncio.get_running_loop().time()
        woken_bytes = 0
        while self._awake and woken_bytes < LARGE_BYTES:
            turn = self._awake.popleft()
            if not turn.begun.done():  # its stream was closed meanwhile
                turn.begun.set_result(None)
                woken_bytes += turn.piece_bytes
        if self._awake:
            self._wake_after(2 * self._pause_seconds)  # as long as the piece that comes now will take, and the pause
        else:
            self._pause_seconds = 0.0


@dataclass(slots=True)
class _Turn:
    """A stream that waits. Its next piece is taken to be as large as the last one, of *piece_bytes*."""

    begun: asyncio.Future[None]
    piece_bytes: int


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
        if self._turns and len(piece) >= LARGE_BYTES:
            await self._turns.let_others(len(piece))
        elif self._turns and is_close:
            await self._turns.wait(len(piece))
