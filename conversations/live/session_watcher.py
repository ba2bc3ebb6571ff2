"""Check once a second whether the sessions of open sockets are still admitted, for all sockets together.

When each socket asked for itself, that was a fifth of the server's work while replies stream.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection
from weakref import WeakKeyDictionary

from chatsite.accounts.gate.admission import Admission, find_admissions
from chatsite.accounts.sessions.session_store import ValidSessions, touch_sessions
from chatsite.postgres.faults import is_passing_fault
from conversations.live.database_threads import in_thread

logger = logging.getLogger(__name__)
CHECK_SECONDS = 1.0
SEEN_AGAIN_SECONDS = 60.0
OnRevoked = Callable[[], None]


class SessionWatcher:
    """The sessions of the open sockets of one event loop; callbacks are called in that loop."""

    def __init__(self) -> None:
        self._session_keys: dict[OnRevoked, str] = {}
        self._checking: asyncio.Task[None] | None = None
        self._seen_at = time.monotonic()
        self._valid_sessions = ValidSessions()

    def watch(self, session_key: str, on_revoked: OnRevoked) -> None:
        """Call *on_revoked* each second while the session is no longer admitted."""
        self._session_keys[on_revoked] = session_key
        if self._checking is None:
            self._checking = asyncio.create_task(self._check_forever())

    def forget(self, on_revoked: OnRevoked) -> None:
        self._session_keys.pop(on_revoked, None)
        if self._checking and not self._session_keys:
            self._checking.cancel()
            self._checking = None

    async def _check_forever(self) -> None:
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            try:
                await self._check()
            except Exception as error:  # or sockets would stay open without being checked any more
                if not is_passing_fault(error):  # while the database is away, no rights can change
                    logger.exception("open sockets could not be asked about; they will be again")

    async def _check(self) -> None:
        watched = dict(self._session_keys)
        admitted = await in_thread(_admitted)(set(watched.values()), self._valid_sessions)
        for on_revoked, session_key in watched.items():
            if session_key not in admitted and on_revoked in self._session_keys:
                on_revoked()
        await self._touch_sessions(admitted)

    async def _touch_sessions(self, session_keys: Collection[str]) -> None:
        """Now and then, store that users with open pages were seen, also if they load no other page."""
        if time.monotonic() - self._seen_at > SEEN_AGAIN_SECONDS:
            self._seen_at = time.monotonic()
            await in_thread(touch_sessions)(session_keys)


def session_watcher() -> SessionWatcher:
    """Return the running event loop's."""
    return _of_loop.setdefault(asyncio.get_running_loop(), SessionWatcher())


_of_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, SessionWatcher] = WeakKeyDictionary()


def _admitted(session_keys: Collection[str], valid_sessions: ValidSessions) -> set[str]:
    """Return those of *session_keys* whose users are admitted, by two statements."""
    users = valid_sessions.find_user_ids(session_keys)
    admissions = find_admissions(set(users.values()))
    return {session_key for session_key, user_id in users.items() if admissions[user_id] is Admission.ADMITTED}
