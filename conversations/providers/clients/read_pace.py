"""The pace at which streams of providers are read: all together every 60 ms, where their pieces come faster than that.

A wake-up for each piece costs more than the piece: of 50 streams at once each, a task, a queue, a frame, a write to a
socket. Between two turns connections are paused, so that the operating system collects what comes, and it is one piece.
The first word of a reply waits for no turn, and 60 ms are not seen in a text that is being written.

Where a provider writes faster than its text is dealt with, pieces are large and wait for no turn, but for each other.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Protocol

logger = logging.getLogger(__name__)
TURN_SECONDS: Final = 0.06
CLOSE_SECONDS: Final = 1.5 * TURN_SECONDS  # pieces with longer between them gain nothing by a turn
SOON_SECONDS: Final = TURN_SECONDS / 8  # a turn that comes sooner is left out; the clock of uvloop has milliseconds
# A piece that shows that more waits than a turn should bring. To deal with one takes milliseconds of the event loop.
LARGE_BYTES: Final = 16_384


class ReadTurns:
    """Turns that all streams of one event loop share: at each, one timer lets all that pause be read on.

    They go on a few after the other, as much as is dealt with in a millisecond or two. In between all else
    of the loop is done: 40 streams that went on in each of its rounds kept pages waiting for ten seconds. And after
    large pieces the loop is left free for as long as they took, so that threads, which make pages, run as well.
    """

    def __init__(self) -> None:
        self._waiting: deque[_Turn] = deque()  # for the timer
        self._awake: deque[_Turn] = deque()
        self._is_waking = False
        self._woke_at = float("-inf")
        self._pause_seconds = 0.0

    def pause(self, transport: asyncio.Transport, piece_bytes: int) -> None:
        """Read nothing more of *transport* until the next turn, at most 65 ms, after a piece of so many bytes."""
        loop = asyncio.get_running_loop()
        paused = _PausedConnection(transport, piece_bytes)
        paused.pause()
        if not self._waiting:
            turns_before = (loop.time() + SOON_SECONDS) // TURN_SECONDS
            loop.call_at((turns_before + 1) * TURN_SECONDS, self._wake)
        self._waiting.append(paused)

    async def let_others(self, piece_bytes: int) -> None:
        """Wait for no turn, only for the other streams that are awake."""
        loop = asyncio.get_running_loop()
        may_begin = loop.create_future()
        self._awake.append(_WaitingReader(may_begin, piece_bytes))
        took_seconds = loop.time() - self._woke_at
        self._pause_seconds = took_seconds if took_seconds < TURN_SECONDS else 0.0  # longer ago it was for another
        self._wake_after(self._pause_seconds)
        await may_begin

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
            if turn.begin():
                woken_bytes += turn.piece_bytes
        if self._awake:
            self._wake_after(2 * self._pause_seconds)  # as long as the piece that comes now will take, and the pause
        else:
            self._pause_seconds = 0.0


class _Turn(Protocol):
    """A stream that waits. Its next piece is taken to be as large as the last one, of *piece_bytes*."""

    piece_bytes: int

    def begin(self) -> bool:
        """Let it go on, and tell whether it does: it may have been closed meanwhile. Raises nothing."""


@dataclass(slots=True)
class _PausedConnection:
    """A stream whose connection is not read on until its turn."""

    transport: asyncio.Transport
    piece_bytes: int

    def pause(self) -> None:
        """Read nothing more of it. One with TLS is held back below it, too.

        Else what comes is read on into the buffer of TLS, which uvloop throws away with all that is in it when the
        other side ends the connection.
        """
        self.transport.pause_reading()
        if limit_buffer := getattr(self.transport, "set_read_buffer_limits", None):
            limit_buffer(high=1, low=0)

    def begin(self) -> bool:
        if self.transport.is_closing():
            return False
        try:
            self._resume()
        except Exception:  # the streams behind it in the queue go on, and this one ends before its idle limit
            logger.exception("a paused connection could not be read on, and is ended")
            with suppress(Exception):
                self.transport.abort()
            return False
        return True

    def _resume(self) -> None:
        if limit_buffer := getattr(self.transport, "set_read_buffer_limits", None):
            limit_buffer()  # as usual: with the other limit a part of a record would stop the connection for ever
        self.transport.resume_reading()


@dataclass(slots=True)
class _WaitingReader:
    """A stream that is not paused, and waits for *may_begin* before it reads on."""

    may_begin: asyncio.Future[None]
    piece_bytes: int

    def begin(self) -> bool:
        if self.may_begin.done():
            return False
        self.may_begin.set_result(None)
        return True


class ReadPace:
    """The pace of one stream: it waits for turns while its pieces are small and come close to each other.

    Without *turns* it waits for none. *find_transport* returns the connection that its pieces come by; None once all
    has come: by then it may be another stream's.
    """

    def __init__(self, turns: ReadTurns | None, find_transport: Callable[[], asyncio.Transport | None] | None) -> None:
        self._turns = turns
        self._find_transport = find_transport or (lambda: None)
        self._clock = asyncio.get_running_loop().time
        self._came_at = float("-inf")

    async def wait_after(self, piece: bytes) -> None:
        """Let the next piece wait for its time, after this one has been dealt with."""
        came_at = self._clock()
        is_close = came_at - self._came_at < CLOSE_SECONDS
        self._came_at = came_at
        if self._turns and len(piece) >= LARGE_BYTES:
            await self._turns.let_others(len(piece))
        elif self._turns and is_close and (transport := self._find_transport()) and not transport.is_closing():
            self._turns.pause(transport, len(piece))
