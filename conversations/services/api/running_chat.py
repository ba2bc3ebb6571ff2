"""A chat completion while it runs, in a task of its own: what it says waits here until it is read.

So a client that reads slowly, or not at all, keeps neither the provider nor the reservation waiting: the completion
comes to its end and is settled. What waits is bounded, as the completion is. A client that goes away ends it, and so
does a key that is revoked.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from dataclasses import dataclass

from conversations.core.errors import ApiKeyInvalid, ConversationError
from conversations.providers.clients.completions import CompletionClient

from .complete_chat import CompletedChat, complete_chat
from .key_watcher import key_watcher
from .prepare_chat import PreparedChat

logger = logging.getLogger(__name__)
CLIENT_GONE = ""  # as where a person stops a reply


@dataclass(frozen=True, slots=True)
class AnswerPiece:
    """A piece of the answer, or of what is thought before it; empty is nothing."""

    text: str = ""
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class Failed:
    """An answer that ended with an error."""

    error: ConversationError


Event = AnswerPiece | CompletedChat | Failed


class EventQueue:
    """What waits to be read, and the record of the window, once it is known."""

    def __init__(self) -> None:
        self.window_id: uuid.UUID | None = None
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


class RunningChat(EventQueue):
    """A chat completion that begins at once. It has to be closed, also when it has ended."""

    def __init__(self, prepared: PreparedChat, client: CompletionClient) -> None:
        super().__init__()
        self._prepared = prepared
        self._client = client
        self._was_revoked = False
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.create_task(self._run(), name="chat completion")
        key_watcher().watch(prepared.key.pk, self._revoke)

    async def close(self) -> None:
        """End it if it runs: the connection to the provider is closed, and the ledger settled, before this returns."""
        key_watcher().forget(self._revoke)
        if not self._task.done():
            self._task.cancel(CLIENT_GONE)
        await asyncio.wait([self._task])

    def close_soon(self) -> None:
        """End it from another thread, if it runs."""
        if not self._task.done() and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._end)

    def _end(self) -> None:
        key_watcher().forget(self._revoke)
        self._task.cancel(CLIENT_GONE)

    # What the completion says

    def append(self, text: str) -> None:
        self.put(AnswerPiece(text))

    def append_reasoning(self, text: str) -> None:
        self.put(AnswerPiece(reasoning=text))

    def take_back_text(self) -> None:
        """Text was thought before the answer. What was read is read: only a whole answer goes without it."""

    def pause_reasoning(self) -> None:
        pass

    def end_attempt(self, *, reasoning_tokens: int | None) -> None:
        pass

    def _note_window(self, window_id: uuid.UUID) -> None:
        self.window_id = window_id

    def _revoke(self) -> None:
        key_watcher().forget(self._revoke)  # a second cancellation would not wait for the ledger
        self._was_revoked = True
        self._task.cancel(ApiKeyInvalid.code)

    async def _run(self) -> None:
        try:
            completed = await complete_chat(
                self._prepared, sink=self, client=self._client, note_window=self._note_window
            )
            self.put(completed)
        except ConversationError as error:
            self.put(Failed(error))
        except asyncio.CancelledError:
            self.put(Failed(ApiKeyInvalid() if self._was_revoked else ConversationError()))
            raise
        except Exception:
            logger.exception("a chat completion of a program failed in a way that is not known")
            self.put(Failed(ConversationError()))
