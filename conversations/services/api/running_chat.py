"""A chat completion while it runs, in a task of its own: what it says waits here until it is read.

So a client that reads slowly, or not at all, keeps neither the provider nor the reservation waiting: the completion
comes to its end and is settled. What waits is bounded, as the completion is. A client that goes away ends it, and so
does a key that is revoked.

One that may be sent again goes on without its client: with an `Idempotency-Key` to its end, else until the retry should
have come. Its words are stored for the same request only once that has joined, and at the end.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from functools import partial
from typing import Any

from conversations.core.errors import (
    AccessError,
    AnswerInterrupted,
    ApiKeyInvalid,
    CompletionError,
    ConversationError,
)
from conversations.live.database_retries import retry_while_database_down
from conversations.providers.clients.completions import CompletionClient

from .complete_chat import complete_chat
from .completed_chat import CompletedChat
from .event_queue import AnswerPiece, EventQueue, Failed
from .idempotent_requests import (
    Idempotency,
    RequestSentAgain,
    forget_request,
    keep_answer,
    let_go,
    note_client_gone,
    take_back,
)
from .joined_chat import follow_answer
from .kept_answer import write_completed, write_error
from .key_watcher import key_watcher
from .prepare_chat import PreparedChat
from .running_chats import HOLDER, running_chats

logger = logging.getLogger(__name__)
CLIENT_GONE = ""  # as where a person stops a reply
KEEP_SECONDS = 0.4  # between two times that the words are stored for who has joined


class RunningChat(EventQueue):
    """A chat completion that begins at once. It has to be closed, also when it has ended.

    With *idempotency* the same request may come again.
    """

    def __init__(
        self, prepared: PreparedChat, client: CompletionClient, idempotency: Idempotency | None = None
    ) -> None:
        super().__init__()
        self._prepared = prepared
        self._client = client
        self._idempotency = idempotency
        self._text: list[str] = []
        self._thoughts: list[str] = []
        self._was_revoked = self._has_begun = self._has_said_all = False
        self._client_has_gone = self._is_unwanted = False
        self._keeping: asyncio.Task[None] | None = None
        self._after_client: asyncio.Task[None] | None = None
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.create_task(self._run(), name="chat completion")
        key_watcher().watch(prepared.key.pk, self._revoke)

    # Its client

    def note_begun(self) -> None:
        self._has_begun = True

    async def close(self) -> None:
        """End it if it runs, unless the client may come back for it.

        The connection to the provider is closed then, and the ledger settled, before this returns.
        """
        self._client_goes()
        if not self._client_has_gone:
            await asyncio.wait([self._task])
        elif self._after_client:
            await asyncio.wait([self._after_client])

    def close_soon(self) -> None:
        """The same from another thread, without waiting."""
        if not self._task.done() and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._client_goes)

    def end(self) -> asyncio.Task[None]:
        """End it; the task that is returned is done once it has been settled."""
        if not self._task.done() and not self._has_said_all:
            self._task.cancel(CLIENT_GONE)
        return self._task

    def _client_goes(self) -> None:
        if self._client_has_gone or self._has_said_all or self._task.done():
            return
        if self._may_come_back:
            self._client_has_gone = True
            self._after_client = asyncio.create_task(self._note_client_gone(), name="the client has gone")
        else:
            key_watcher().forget(self._revoke)
            self._task.cancel(CLIENT_GONE)

    @property
    def _may_come_back(self) -> bool:
        """Whether the same request may come again: the openai package sends none once a stream has begun."""
        if self._idempotency is None or self._was_revoked:
            return False
        return bool(self._idempotency.marks.idempotency_key) or not self._has_begun or self._keeping is not None

    async def _note_client_gone(self) -> None:
        if request := self._idempotency:
            request.client_has_gone = True
            await retry_while_database_down(partial(note_client_gone, request))

    # The same request

    @property
    def idempotency_id(self) -> uuid.UUID | None:
        return self._idempotency.id if self._idempotency else None

    def note_joined(self) -> None:
        """The same request has come again: store what is said for it from now on."""
        if self._keeping is None and not self._has_said_all and self._idempotency:
            self._keeping = asyncio.create_task(self._keep_for_ever(self._idempotency), name="keep an answer")

    def note_unwanted(self) -> None:
        """The client has gone away and did not come back in time."""
        if self._client_has_gone and not self._is_unwanted and self._idempotency:
            self._is_unwanted = True
            self._after_client = asyncio.create_task(
                self._end_unwanted(self._idempotency), name="end what is not wanted"
            )

    async def _end_unwanted(self, request: Idempotency) -> None:
        if await retry_while_database_down(partial(take_back, request)):
            self.end()
        else:
            self._is_unwanted = False  # it is wanted again, or has an Idempotency-Key

    async def _keep_for_ever(self, request: Idempotency) -> None:
        kept = -1
        while True:
            if kept != (kept := len(self._text) + len(self._thoughts)):
                said = {"text": "".join(self._text), "thoughts": "".join(self._thoughts)}
                await retry_while_database_down(partial(keep_answer, request, said))
            await asyncio.sleep(KEEP_SECONDS)

    async def _keep_end(self, said: dict[str, Any], error: BaseException | None = None) -> None:
        """Store how it ended for the same request, which is not made again if it may have cost anything."""
        if self._keeping:
            self._keeping.cancel()
        if (request := self._idempotency) is None:
            return
        work = partial(keep_answer, request, said, has_ended=True)
        if isinstance(error, CompletionError | AccessError) and not getattr(error, "may_be_billed", False):
            work = partial(let_go, request, said)
        if not self._client_has_gone and self._has_begun and not request.marks.idempotency_key:
            await retry_while_database_down(partial(forget_request, request))
        await retry_while_database_down(work)

    # What the completion says

    def append(self, text: str) -> None:
        if self._idempotency:
            self._text.append(text)
        self.put(AnswerPiece(text))

    def append_reasoning(self, text: str) -> None:
        if self._idempotency:
            self._thoughts.append(text)
        self.put(AnswerPiece(reasoning=text))

    def take_back_text(self) -> None:
        """Text was thought before the answer. What was read is read: only a whole answer goes without it."""
        self._thoughts += self._text
        self._text.clear()

    def pause_reasoning(self) -> None:
        pass

    def end_attempt(self, *, reasoning_tokens: int | None) -> None:
        pass

    def _note_window(self, window_id: uuid.UUID) -> None:
        self.window_id = window_id

    def _revoke(self) -> None:
        key_watcher().forget(self._revoke)  # a second cancellation would not wait for the ledger
        self._was_revoked = True
        if not self._has_said_all:
            self._task.cancel(ApiKeyInvalid.code)

    async def _run(self) -> None:
        chats = running_chats()
        try:
            await chats.enter(self)
            await self._complete()
        finally:
            key_watcher().forget(self._revoke)
            chats.leave(self)

    async def _complete(self) -> None:
        try:
            if (completed := await self._make()) is None:
                return
            self._has_said_all = True
            self.put(completed)
            await self._keep_end(write_completed(completed))
        except ConversationError as error:
            self._has_said_all = True
            self.put(Failed(error))
            await self._keep_end(write_error(error), error)
        except asyncio.CancelledError:
            self.put(Failed(ApiKeyInvalid() if self._was_revoked else ConversationError()))
            await self._keep_end(write_error(AnswerInterrupted()))
            raise
        except Exception:
            logger.exception("a chat completion of a program failed in a way that is not known")
            self.put(Failed(ConversationError()))
            await self._keep_end(write_error(AnswerInterrupted()))

    async def _make(self) -> CompletedChat | None:
        """Return the answer; None where the same request was stored before: then its answer is read to its end."""
        try:
            return await complete_chat(
                self._prepared,
                sink=self,
                client=self._client,
                note_window=self._note_window,
                idempotency=self._idempotency,
                holder=HOLDER,
            )
        except RequestSentAgain as again:
            asked_for = self._idempotency.asked_for if self._idempotency else b""
            self._idempotency = None  # another holds it
            self.is_sent_again = True
            await follow_answer(self, again.first.pk, asked_for)
            return None
