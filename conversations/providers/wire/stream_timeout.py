"""Timeouts of a completion's stream: how long to wait for a provider."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from types import TracebackType


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long to wait: for a connection, for the first chunk, between two chunks, and for the whole reply."""

    connect_seconds: float = 10
    first_byte_seconds: float = 60
    idle_seconds: float = 60
    total_seconds: float = 900


class StreamTimeout:
    """Bounds the waits of one attempt, which begins when this is made: `with waits: piece = await …`.

    A wait that takes too long raises `TimeoutError`, as within `asyncio.timeout`. Only time spent
    waiting counts: a reply may be slow to be used. One timer serves all waits and checks, when it goes off, how much
    time is left: a timer for each wait was a tenth of what a streamed reply costs.
    """

    def __init__(self, timeouts: Timeouts) -> None:
        self._loop = asyncio.get_running_loop()
        self._idle_seconds = timeouts.idle_seconds
        self._end_at = self._loop.time() + timeouts.total_seconds
        self._allowed_seconds = timeouts.first_byte_seconds
        self._waited_seconds = 0.0  # since the last chunk, before the wait that goes on
        self._waiting: asyncio.Task[object] | None = None
        self._waiting_since = 0.0
        self._cancelled_before = 0
        self._is_over = False
        self._schedule_check(min(timeouts.first_byte_seconds, timeouts.total_seconds))

    def restart(self) -> None:
        """A chunk has come: begin to wait for the next. A comment, which only keeps the line open, is no chunk."""
        self._allowed_seconds, self._waited_seconds = self._idle_seconds, 0.0

    def close(self) -> None:
        self._timer.cancel()

    def __enter__(self) -> None:
        self._waiting_since = self._loop.time()
        self._waiting = asyncio.current_task(self._loop)
        self._cancelled_before = self._waiting.cancelling() if self._waiting else 0

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        waited, self._waiting = self._waiting, None
        self._waited_seconds += self._loop.time() - self._waiting_since
        if self._is_over and waited and waited.uncancel() <= self._cancelled_before and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def _check(self) -> None:
        if self._waiting is None:
            self._schedule_check(self._idle_seconds)
        elif (left_seconds := self._left_seconds(self._loop.time())) > 0:
            self._schedule_check(left_seconds)
        else:
            self._is_over = True
            self._waiting.cancel()

    def _left_seconds(self, now: float) -> float:
        waited_seconds = self._waited_seconds + now - self._waiting_since
        return min(self._allowed_seconds - waited_seconds, self._end_at - now)

    def _schedule_check(self, seconds: float) -> None:
        self._timer = self._loop.call_later(seconds, self._check)
