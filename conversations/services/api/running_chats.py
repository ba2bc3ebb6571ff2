"""All chat completions that run in this process: its heartbeats while there are any, and what others ask of them.

A process that is killed leaves no heartbeat. The reaper then settles what it had left open, and those who have joined
one of its answers learn that it was interrupted.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
import uuid
from collections.abc import Collection
from functools import partial
from typing import Protocol
from weakref import WeakKeyDictionary

from django.db import connection

from conversations.live.database_retries import retry_while_database_down
from conversations.live.database_threads import in_worker_thread
from conversations.live.fanout import PROCESS_ID

logger = logging.getLogger(__name__)
HOLDER = PROCESS_ID
BEAT_SECONDS = 2.0
DRAIN_SECONDS = 20.0
BEAT = """
INSERT INTO conversations_apiheartbeat (name, seen_at) VALUES (%s, statement_timestamp())
ON CONFLICT (name) DO UPDATE SET seen_at = excluded.seen_at
"""
ASKED = """
SELECT id, is_joined, coalesce(wanted_until < statement_timestamp(), false)
FROM conversations_idempotentrequest WHERE id = ANY(%s)
"""


class Chat(Protocol):
    """A chat completion as others see it."""

    @property
    def idempotency_id(self) -> uuid.UUID | None: ...

    def note_joined(self) -> None: ...

    def note_unwanted(self) -> None: ...

    def end(self) -> asyncio.Task[None]: ...


class RunningChats:
    """Those of one event loop."""

    def __init__(self) -> None:
        self._running: set[Chat] = set()
        self._is_empty = asyncio.Event()
        self._turn = asyncio.Lock()
        self._beaten_at = float("-inf")
        self._beating: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """There is nothing to be done before the first one runs."""

    async def enter(self, chat: Chat) -> None:
        """Count *chat* among those that run; this process has a heartbeat before this returns."""
        self._running.add(chat)
        self._is_empty.clear()
        async with self._turn:
            if time.monotonic() - self._beaten_at > BEAT_SECONDS:
                await retry_while_database_down(partial(_beat, ()))
                self._beaten_at = time.monotonic()
        if self._beating is None:
            self._beating = asyncio.create_task(self._beat_for_ever(), name="heartbeat of answers")

    def leave(self, chat: Chat) -> None:
        self._running.discard(chat)
        if self._running:
            return
        self._is_empty.set()
        if self._beating:
            self._beating.cancel()
            self._beating = None

    def tell_joined(self, idempotency_id: uuid.UUID) -> None:
        """Tell the one that is made here, if it is, that others read it: those of other processes are told later."""
        for chat in tuple(self._running):
            if chat.idempotency_id == idempotency_id:
                chat.note_joined()

    async def drain(self) -> None:
        """Let those whose clients have gone away come to their end, or end them: no client is here any more."""
        if self._running:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._is_empty.wait(), DRAIN_SECONDS)
        await asyncio.gather(*(chat.end() for chat in tuple(self._running)), return_exceptions=True)

    async def _beat_for_ever(self) -> None:
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            try:
                await self._look()
            except Exception:
                logger.exception("the heartbeat of answers could not be stored; it will be tried again")

    async def _look(self) -> None:
        chats = {known: chat for chat in self._running if (known := chat.idempotency_id)}
        asked = await in_worker_thread(_beat)(tuple(chats))
        self._beaten_at = time.monotonic()
        for idempotency_id, is_joined, is_unwanted in asked:
            if is_joined:
                chats[idempotency_id].note_joined()
            if is_unwanted:
                chats[idempotency_id].note_unwanted()


def _beat(idempotency_ids: Collection[uuid.UUID]) -> list[tuple[uuid.UUID, bool, bool]]:
    """Say that this process is alive; return of these requests whether they are joined, and wanted no longer."""
    with connection.cursor() as cursor:
        cursor.execute(BEAT, [HOLDER])
        if not idempotency_ids:
            return []
        cursor.execute(ASKED, [list(idempotency_ids)])
        return list(cursor.fetchall())


_of_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, RunningChats] = WeakKeyDictionary()


def running_chats() -> RunningChats:
    """Return the running event loop's."""
    return _of_loop.setdefault(asyncio.get_running_loop(), RunningChats())
