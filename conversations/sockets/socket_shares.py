"""One user's share of the sockets: how many are open, and how many of their frames are handled at once.

Snapshots, which are rendered, have a queue of their own: a page that asks for many of them still sends and stops.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from weakref import WeakKeyDictionary

from django.conf import settings

from conversations.core.frames.definitions import ConversationSync, PageFrame
from conversations.live.user_turns import UserTurns

FRAMES_AT_ONCE = 2
SNAPSHOTS_AT_ONCE = 1


class SocketShares:
    """The sockets of one event loop. A socket waits with its next frame for the one before, so few frames wait."""

    def __init__(self) -> None:
        most_waiting = settings.SOCKETS_PER_USER
        self._open: Counter[int] = Counter()
        self._frames = UserTurns(at_once=FRAMES_AT_ONCE, most_waiting=most_waiting)
        self._snapshots = UserTurns(at_once=SNAPSHOTS_AT_ONCE, most_waiting=most_waiting)

    def take_socket(self, user_id: int) -> bool:
        """Count one more open socket of the user; false if that would be too many."""
        if self._open[user_id] >= settings.SOCKETS_PER_USER:
            return False
        self._open[user_id] += 1
        return True

    def give_socket_back(self, user_id: int) -> None:
        self._open[user_id] -= 1
        if not self._open[user_id]:
            del self._open[user_id]

    def turns_for(self, frame: PageFrame) -> UserTurns:
        return self._snapshots if isinstance(frame, ConversationSync) else self._frames


def shares() -> SocketShares:
    """Return the running event loop's."""
    return _of_loop.setdefault(asyncio.get_running_loop(), SocketShares())


_of_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, SocketShares] = WeakKeyDictionary()
