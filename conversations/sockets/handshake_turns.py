"""Limit one user's socket handshakes: one after the other, and far too many are refused without the database.

Frames of open sockets have turns of their own (`socket_shares`), and how many may be open is counted there. But a page
that opens and closes sockets without end costs most by the handshakes, each of which asks for a session and a user.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from contextlib import AsyncExitStack
from typing import Any

from django.conf import settings

from conversations.live.user_turns import QueueFull, UserTurns
from conversations.views.http.errors import RETRY_AFTER_SECONDS
from conversations.views.http.user_share import read_cookies, session_user

Scope = dict[str, Any]
Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

HANDSHAKES_AT_ONCE = 1
# Of what a connection costs, most comes before and after its turn: to accept it, to read its head, to answer, to close.
SHORTEST_PAUSE_SECONDS = 0.05
REFUSAL_SECONDS = 5.0
RESPONSE = "websocket.http.response"  # the extension of ASGI by which a handshake is refused with another status


class HandshakeTurns:
    """Lets through to *application* one handshake of a user at a time. An open socket holds no turn."""

    def __init__(self, application: Callable[[Scope, Receive, Send], Awaitable[None]]) -> None:
        self._application = application
        self._turns = UserTurns(
            at_once=HANDSHAKES_AT_ONCE,
            most_waiting=settings.SOCKETS_PER_USER,
            shortest_pause_seconds=SHORTEST_PAUSE_SECONDS,
            refusal_seconds=REFUSAL_SECONDS,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        cookies = read_cookies(scope)
        session_key = cookies.get(settings.SESSION_COOKIE_NAME)
        scope = {**scope, "cookies": cookies, "session_key": session_key}
        user = await session_user(session_key)
        if user is None:  # it is refused by the consumer
            await self._application(scope, receive, send)
            return
        turn: AsyncExitStack | None = None  # while the handshake lasts: each keeps a kilobyte

        async def send_on(message: Message) -> None:
            """The first message accepts or refuses; those after it are the frames of an open socket."""
            nonlocal turn
            if turn is not None:
                ended, turn = turn, None
                await ended.aclose()
            await send(message)

        try:
            turn = await self._begin_turn(user)
            await self._application(scope, receive, send_on)
        except QueueFull:
            await refuse(scope, send)
        finally:
            if turn is not None:
                await turn.aclose()

    async def _begin_turn(self, user: Hashable) -> AsyncExitStack:
        turn = AsyncExitStack()
        await turn.enter_async_context(self._turns.turn(user))
        return turn


async def refuse(scope: Scope, send: Send) -> None:
    """Refuse a handshake: 429 with Retry-After, or 403 where the server knows no other."""
    if RESPONSE not in scope.get("extensions", {}):
        await send({"type": "websocket.close"})  # 403
        return
    headers = [(b"retry-after", str(RETRY_AFTER_SECONDS).encode()), (b"cache-control", b"no-store")]
    await send({"type": f"{RESPONSE}.start", "status": 429, "headers": headers})
    await send({"type": f"{RESPONSE}.body", "body": b""})
