"""Check once a second whether the sessions of open sockets are still admitted, for all sockets together.

When each socket asked for itself, that was a fifth of the server's work while replies stream.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection
from weakref import WeakKeyDictionary

from chatsite.accounts.gate.admission import Admission, find_admissions
from chatsite.accounts.sessions.session_store import ValidSessions, touch_sessions
from conversations.live.database_threads import in_thread
from conversations.live.revocation_watcher import RevocationWatcher

SEEN_AGAIN_SECONDS = 60.0


class SessionWatcher(RevocationWatcher[str]):
    """The sessions of the open sockets of one event loop, by their keys."""

    def __init__(self) -> None:
        super().__init__()
        self._seen_at = time.monotonic()
        self._valid_sessions = ValidSessions()

    async def find_valid(self, watched: set[str]) -> Collection[str]:
        return await in_thread(_admitted)(watched, self._valid_sessions)

    def fingerprint_of(self, session_key: str | None) -> bytes | None:
        """Return the fingerprint with which an open socket's session was valid at the last check; None if unknown."""
        return self._valid_sessions.fingerprint_of(session_key)

    async def _check(self) -> Collection[str]:
        admitted = await super()._check()
        await self._touch_sessions(admitted)
        return admitted

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
