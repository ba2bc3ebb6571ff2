"""Base class of answers that are made elsewhere and only read here: reading ends with its client, and with its key."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from conversations.core.errors import ApiKeyInvalid

from .event_queue import EventQueue, Failed
from .key_watcher import key_watcher


class WatchedAnswer(EventQueue):
    """An event queue that a task fills. Closing it ends the reading alone."""

    def begin(self, filling: Coroutine[Any, Any, None], key_id: int, *, name: str) -> None:
        """Let *filling* fill it, until it is closed or the key is revoked."""
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.create_task(filling, name=name)
        key_watcher().watch(key_id, self.revoke)

    async def close(self) -> None:
        self._end()
        await asyncio.wait([self._task])

    def close_soon(self) -> None:
        if not self._task.done() and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._end)

    def revoke(self) -> None:
        """End it because its key was revoked."""
        self.put(Failed(ApiKeyInvalid()))
        self._end()

    def _end(self) -> None:
        key_watcher().forget(self.revoke)
        self._task.cancel()
