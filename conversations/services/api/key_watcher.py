"""Check once a second whether the API keys of running requests still open something, for all requests of a process."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from weakref import WeakKeyDictionary

from conversations.access import find_open_keys
from conversations.live.database_threads import in_thread
from conversations.live.revocation_watcher import RevocationWatcher


class KeyWatcher(RevocationWatcher[int]):
    """The keys of the running requests of one event loop, by id."""

    async def find_valid(self, watched: set[int]) -> Collection[int]:
        return await in_thread(find_open_keys)(watched)


_of_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, KeyWatcher] = WeakKeyDictionary()


def key_watcher() -> KeyWatcher:
    """Return the running event loop's."""
    return _of_loop.setdefault(asyncio.get_running_loop(), KeyWatcher())
