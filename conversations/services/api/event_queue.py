"""The queue of events between what makes an answer and the view that reads it: pieces of the answer, then its end."""

from __future__ import annotations

import asyncio
import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from conversations.core.errors import ConversationError

from .completed_chat import CompletedChat


class AnswerPiece(NamedTuple):
    """A piece of the answer, or of what is thought before it; empty is nothing."""

    text: str = ""
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class Failed:
    """It ended with an error."""

    error: ConversationError


Event = AnswerPiece | CompletedChat | Failed


class EventQueue:
    """What waits to be read, and the record of the window, once it is known.

    *is_sent_again* is true where the same request has left before, and this is its answer.
    """

    _task: asyncio.Task[None]

    def __init__(self) -> None:
        self.window_id: uuid.UUID | None = None
        self.is_sent_again = False
        self._events: deque[Event] = deque()
        self._reader: asyncio.Future[bool] | None = None
        self._until: float | None = None  # by the loop's clock, of the wait that goes on
        self._timer: asyncio.TimerHandle | None = None

    def put(self, event: Event) -> None:
        self._events.append(event)
        self._wake(True)

    def _wake(self, is_filled: bool) -> None:
        if self._reader and not self._reader.done():
            self._reader.set_result(is_filled)

    async def close(self) -> None:
        """Stop what fills it, before this returns."""
        raise NotImplementedError

    def close_soon(self) -> None:
        """Stop what fills it, from another thread."""
        raise NotImplementedError

    def when_filled(self, call: Callable[[], object]) -> None:
        """Call *call* once nothing fills it any more."""
        self._task.add_done_callback(lambda _: call())

    def note_begun(self) -> None:
        """Note that the client has the beginning of a stream: it won't send the request again by itself."""

    async def next(self) -> Event:
        """Return what comes next; pieces that wait already come as one. After the end nothing comes."""
        if not self._events:
            await self._filled()
        if not isinstance(self._events[0], AnswerPiece):
            self._stop_timer()
            return self._events.popleft()
        texts: list[str] = []
        thoughts: list[str] = []
        while self._events and isinstance(piece := self._events[0], AnswerPiece):
            if piece.reasoning and texts:  # thoughts come before what they led to
                break
            self._events.popleft()
            thoughts.append(piece.reasoning)
            if piece.text:
                texts.append(piece.text)
        return AnswerPiece("".join(texts), "".join(thoughts))

    @property
    def waiting(self) -> Event | None:
        """What `next` will return, or the beginning of it."""
        return self._events[0] if self._events else None

    async def wait(self, seconds: float) -> bool:
        """Wait until something is there to be read, or so many seconds have passed; return whether it is."""
        if self._events:
            return True
        loop = asyncio.get_running_loop()
        self._until = loop.time() + seconds
        if self._timer is None or self._timer.when() > self._until:
            self._stop_timer()
            self._timer = loop.call_at(self._until, self._look_at_clock, loop)
        try:
            return await self._filled()
        finally:
            self._until = None

    def _stop_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _look_at_clock(self, loop: asyncio.AbstractEventLoop) -> None:
        """End the wait that has lasted long enough. One timer serves all waits: a piece comes long before its time."""
        self._timer = None
        if self._until is None:
            return
        if self._until > loop.time():
            self._timer = loop.call_at(self._until, self._look_at_clock, loop)
        else:
            self._wake(False)

    async def _filled(self) -> bool:
        """Wait until something is there, or `_wake` says that it is not. One reads at a time."""
        self._reader = asyncio.get_running_loop().create_future()
        return await self._reader
