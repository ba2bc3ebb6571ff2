"""Check once a second whether what lets a user in, a session or a key, still does, for all that is open at once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection
from typing import Generic, TypeVar

from chatsite.postgres.faults import is_passing_fault

logger = logging.getLogger(__name__)
CHECK_SECONDS = 1.0
OnRevoked = Callable[[], object]
Access = TypeVar("Access", int, str)


class RevocationWatcher(Generic[Access]):
    """What is open on one event loop, and what lets it in; callbacks are called in that loop."""

    def __init__(self) -> None:
        self._watched: dict[OnRevoked, Access] = {}
        self._checking: asyncio.Task[None] | None = None

    async def find_valid(self, watched: set[Access]) -> Collection[Access]:
        """Return those of *watched* that still let their users in."""
        raise NotImplementedError

    def watch(self, access: Access, on_revoked: OnRevoked) -> None:
        """Call *on_revoked* each second while *access* lets no one in."""
        self._watched[on_revoked] = access
        if self._checking is None:
            self._checking = asyncio.create_task(self._check_forever())

    def forget(self, on_revoked: OnRevoked) -> None:
        self._watched.pop(on_revoked, None)
        if self._checking and not self._watched:
            self._checking.cancel()
            self._checking = None

    async def _check_forever(self) -> None:
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            try:
                await self._check()
            except Exception as error:  # or what is open would stay so without being checked any more
                if not is_passing_fault(error):  # while the database is away, no rights can change
                    logger.exception("what is open could not be checked; it will be again")

    async def _check(self) -> Collection[Access]:
        """Tell those that are open and let in no longer; return what is valid."""
        watched = dict(self._watched)
        valid = await self.find_valid(set(watched.values()))
        for on_revoked, access in watched.items():
            if access not in valid and on_revoked in self._watched:
                on_revoked()
        return valid
