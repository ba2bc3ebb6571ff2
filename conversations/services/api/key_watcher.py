"""Check once a second whether the keys of running requests still open something, for all requests of a process."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from weakref import WeakKeyDictionary

from chatsite.postgres.faults import is_passing_fault
from conversations.live.database_threads import in_thread

from .api_keys import find_open_keys

CHECK_SECONDS = 1.0
logger = logging.getLogger(__name__)
OnRevoked = Callable[[], object]


class KeyWatcher:
    """The keys of the running requests of one event loop; callbacks are called in that loop."""

    def __init__(self) -> None:
        self._key_ids: dict[OnRevoked, int] = {}
        self._checking: asyncio.Task[None] | None = None

    def watch(self, key_id: int, on_revoked: OnRevoked) -> None:
        """Call *on_revoked* each second while the key opens nothing."""
        self._key_ids[on_revoked] = key_id
        if self._checking is None:
            self._checking = asyncio.create_task(self._check_forever())

    def forget(self, on_revoked: OnRevoked) -> None:
        self._key_ids.pop(on_revoked, None)
        if self._checking and not self._key_ids:
            self._checking.cancel()
            self._checking = None

    async def _check_forever(self) -> None:
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            try:
                watched = dict(self._key_ids)
                still_open = await in_thread(find_open_keys)(set(watched.values()))
                for on_revoked, key_id in watched.items():
                    if key_id not in still_open and on_revoked in self._key_ids:
                        on_revoked()
            except Exception as error:  # or requests would run on without being checked any more
                if not is_passing_fault(error):
                    logger.exception("the keys of running requests could not be checked; they will be again")


_of_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, KeyWatcher] = WeakKeyDictionary()


def key_watcher() -> KeyWatcher:
    """Return the running event loop's."""
    return _of_loop.setdefault(asyncio.get_running_loop(), KeyWatcher())
