"""Limit one user's plain requests at once: a fair queue before Django, so what waits holds no thread and no connection.

    UserShare (ASGI)  ── whose session it is ──▶ a turn (`live.user_turns`), after a wait or at once
                      ── the queue is full ──▶ 429 with Retry-After, as JSON or as text, without the database

A small form is read before its turn: one that the network lost on the way would keep the user's pages waiting.
A response that is streamed gives its turn to the next request when it begins, and takes a place of its own: a slow
reader of a file would keep the user's pages waiting.
"""

from __future__ import annotations

import json
from collections import Counter, OrderedDict, deque
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from importlib import import_module
from io import BytesIO
from typing import Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.core.handlers.asgi import ASGIRequest
from django.db import Error as DatabaseError
from django.http import parse_cookie
from django.utils.translation import get_language_from_request

from chatsite.postgres.faults import is_database_away
from conversations.core.errors import TooManyRequestsAtOnce
from conversations.live.database_threads import in_thread
from conversations.live.user_turns import QueueFull, UserTurns
from conversations.wording.error_sentences import ReaderLocale, error_sentence

from .errors import RETRY_AFTER_SECONDS, wants_json

Scope = dict[str, Any]
Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

REQUESTS_WAITING = 64
SMALL_BODY_BYTES = 64_000
SMALL_BODIES_AT_ONCE = 16  # of one user; those beyond are read in their turn
STREAMS_AT_ONCE = 4
SESSIONS_REMEMBERED = 10_000
STREAMED = "windowseat.streamed"  # set in the scope by `refuse_large_bodies`
WITHOUT_TURNS = ("/v1/", "/static/", "/healthz", "/livez", "/readyz", "/metrics", "/favicon.ico")


class UserShare:
    """Lets through to *application* so many requests of one user at once."""

    def __init__(self, application: Callable[[Scope, Receive, Send], Awaitable[None]]) -> None:
        self._application = application
        self._turns = UserTurns(at_once=settings.REQUESTS_PER_USER, most_waiting=REQUESTS_WAITING)
        self._streams = UserTurns(at_once=STREAMS_AT_ONCE, most_waiting=STREAMS_AT_ONCE)
        self._bodies: Counter[str] = Counter()  # that are being read, by user

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        user = None if scope["path"].startswith(WITHOUT_TURNS) else await session_user(read_session_key(scope))
        if user is None:
            await self._application(scope, receive, send)
            return
        receive = await self._with_small_body(user, scope, receive)
        try:
            async with AsyncExitStack() as turn, AsyncExitStack() as stream:
                await turn.enter_async_context(self._turns.turn(user))

                async def send_on(message: Message) -> None:
                    if message["type"] == "http.response.start" and STREAMED in scope:
                        await turn.aclose()
                        await stream.enter_async_context(self._streams.turn(user))
                    await send(message)

                await self._application(scope, receive, send_on)
        except QueueFull:
            await refuse(scope, send)

    async def _with_small_body(self, user: str, scope: Scope, receive: Receive) -> Receive:
        """Return *receive* as it is; of a small body only once that has been read."""
        declared = declared_bytes(scope)
        if not declared or declared > SMALL_BODY_BYTES or self._bodies[user] >= SMALL_BODIES_AT_ONCE:
            return receive
        messages: deque[Message] = deque()
        self._bodies[user] += 1
        try:
            while not messages or messages[-1].get("more_body"):
                messages.append(await receive())
        finally:
            self._bodies[user] -= 1
            if not self._bodies[user]:
                del self._bodies[user]

        async def receive_again() -> Message:
            return messages.popleft() if messages else await receive()

        return receive_again


def declared_bytes(scope: Scope) -> int | None:
    """Return the Content-Length; 0 for a request without a body, None where only counting tells."""
    headers = dict(scope["headers"])
    if b"transfer-encoding" in headers:
        return None
    declared = headers.get(b"content-length", b"0")
    return int(declared) if declared.isdigit() else None


def read_cookies(scope: Scope) -> dict[str, str]:
    """Return the cookies of a request or of a socket's handshake."""
    return parse_cookie(dict(scope["headers"]).get(b"cookie", b"").decode("latin-1"))


def read_session_key(scope: Scope) -> str | None:
    """Return the key of the session that a request's cookie names."""
    return read_cookies(scope).get(settings.SESSION_COOKIE_NAME)


_users: OrderedDict[str, str] = OrderedDict()


async def session_user(key: str | None, *, is_read_again: bool = False) -> str | None:
    """Return the user of the session with that *key*; None for a visitor who is not signed in.

    It only tells queues apart: what the session may do is asked afterwards. A session never changes its user, so that
    is remembered, also when it has ended, unless it *is_read_again*.
    """
    if not key:
        return None
    if not is_read_again and (user := _users.get(key)):
        _users.move_to_end(key)
        return user
    try:
        user = await in_thread(_read_user)(key)
    except DatabaseError as error:
        if is_database_away(error):  # Django meets it, too, and has words for it
            return None
        raise
    if user:
        _users[key] = user
        if len(_users) > SESSIONS_REMEMBERED:
            _users.popitem(last=False)
    return user


def _read_user(key: str) -> str | None:
    store = import_module(settings.SESSION_ENGINE).SessionStore
    user: str | None = store(key).get(SESSION_KEY)
    return user


async def refuse(scope: Scope, send: Send) -> None:
    """Say that too many requests wait already; nothing is asked of the database for that."""
    request = ASGIRequest(scope, BytesIO())
    error = TooManyRequestsAtOnce()
    sentence = error_sentence(error, ReaderLocale(get_language_from_request(request)))
    is_json = wants_json(request)
    body = json.dumps({"code": error.code, "message": sentence}) if is_json else sentence
    headers = [
        (b"content-type", b"application/json" if is_json else b"text/plain; charset=utf-8"),
        (b"retry-after", str(RETRY_AFTER_SECONDS).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
    ]
    await send({"type": "http.response.start", "status": 429, "headers": headers})
    await send({"type": "http.response.body", "body": body.encode()})
