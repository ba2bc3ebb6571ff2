"""Who may still be in, asked once a second for all open sockets together.

Asked by each socket for itself, it was a fifth of the server's work while replies stream.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection
from weakref import WeakKeyDictionary

from django.db import InterfaceError, OperationalError

from chatsite.accounts.gate.admission import Admission, find_admissions
from chatsite.accounts.sessions.session_users import find_session_users, touch_sessions
from conversations.live.database_threads import in_thread

logger = logging.getLogger(__name__)
CHECK_SECONDS = 1.0
SEEN_AGAIN_SECONDS = 60.0
Doubt = Callable[[], None]


class SignIns:
    """The sessions of the open sockets of one event loop; whoever waits for a doubt is called in that loop."""

    def __init__(self) -> None:
        self._session_keys: dict[Doubt, str] = {}
        self._checking: asyncio.Task[None] | None = None
        self._seen_at = time.monotonic()

    def watch(self, session_key: str, doubt: Doubt) -> None:
        """Call *doubt*, once a second, while the session may no longer be that of somebody who may be in."""
        self._session_keys[doubt] = session_key
        if self._checking is None:
            self._checking = asyncio.create_task(self._check_for_ever())

    def forget(self, doubt: Doubt) -> None:
        self._session_keys.pop(doubt, None)
        if self._checking and not self._session_keys:
            self._checking.cancel()
            self._checking = None

    async def _check_for_ever(self) -> None:
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            try:
                await self._check()
            except (OperationalError, InterfaceError):
                pass  # while the database is away, nobody's rights can change
            except Exception:  # or sockets would stay open that nobody asks about any more
                logger.exception("open sockets could not be asked about; they will be again")

    async def _check(self) -> None:
        asked = dict(self._session_keys)
        admitted = await in_thread(_admitted)(set(asked.values()))
        for doubt, session_key in asked.items():
            if session_key not in admitted and doubt in self._session_keys:
                doubt()
        await self._touch_sessions(admitted)

    async def _touch_sessions(self, session_keys: Collection[str]) -> None:
        """Now and then, write down that people whose pages are open are here, also if they load no other."""
        if time.monotonic() - self._seen_at > SEEN_AGAIN_SECONDS:
            self._seen_at = time.monotonic()
            await in_thread(touch_sessions)(session_keys)


def sign_ins() -> SignIns:
    """Return the running event loop's."""
    return _of_loop.setdefault(asyncio.get_running_loop(), SignIns())


_of_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, SignIns] = WeakKeyDictionary()


def _admitted(session_keys: Collection[str]) -> set[str]:
    """Return those of *session_keys* whose people may be in, by two statements."""
    people = {session_key: user.pk for session_key, user in find_session_users(session_keys).items()}
    admissions = find_admissions(set(people.values()))
    return {session_key for session_key, user_id in people.items() if admissions[user_id] is Admission.ADMITTED}
