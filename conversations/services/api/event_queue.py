"""What a completion says to a program, as it waits to be read: pieces of the answer, then how it ended."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from dataclasses import dataclass

from conversations.core.errors import ConversationError

from .complete_chat import CompletedChat


@dataclass(frozen=True, slots=True)
class AnswerPiece:
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

    *is_repeated* is true where the same request has left before, and this is its answer.
    """

    _task: asyncio.Task[None]

    def __init__(self) -> None:
        self.window_id: uuid.UUID | None = None
        self.is_repeated = False
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self._next: Event | None = None

    def put(self, event: Event) -> None:
        self._events.put_nowait(event)

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
        event, self._next = self._next or await self._events.get(), None
        while isinstance(event, AnswerPiece) and not self._events.empty():
            following = self._events.get_nowait()
            if not isinstance(following, AnswerPiece):
                self._next = following
                break
            event = AnswerPiece(event.text + following.text, event.reasoning + following.reasoning)
            if event.text and event.reasoning:  # thoughts come before what they led to
                break
        return event

    @property
    def waiting(self) -> Event | None:
        """What `wait` has found, and `next` will return."""
        return self._next

    async def wait(self, seconds: float) -> bool:
        """Wait until something is there to be read, or so many seconds have passed; return whether it is."""
        if self._next is None:
            try:
                async with asyncio.timeout(seconds):
                    self._next = await self._events.get()
            except TimeoutError:
                return False
        return True
