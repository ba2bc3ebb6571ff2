"""How much of a request is read. What is larger is refused before Django writes it to its disk.

    BodyLimit (ASGI)  ── by Content-Length, or by counting what has none ──▶ an empty body, and a mark in the scope
    refuse_large_bodies (Django middleware)  ── the mark ──▶ 413, in words or as JSON, as every other refusal

Files may come in larger requests, to the few addresses that take them, from whoever is signed in, and only so many at
once: the others wait, unread, so what lies on the disk is bounded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from importlib import import_module
from typing import Any

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.http import HttpRequest, HttpResponseBase, parse_cookie
from django.urls import Resolver404, resolve
from django.utils.decorators import sync_and_async_middleware

from conversations.core.errors import FilesTooLarge, RequestTooLarge, SignInRequired
from conversations.threads import in_thread
from conversations.views.errors import refused

Scope = dict[str, Any]
Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

TAKING_FILES = {"conversations:add_conversation_documents", "conversations:add_scenario_documents"}
FILES_AT_ONCE = 5  # of the largest size, in one request
FORM_BYTES = 1_000_000  # what a form adds to its files
LARGE_BODIES_AT_ONCE = 8
MARK = "windowseat.body_too_large"
# Whoever is cut off while sending may never read why, so for a moment what comes is thrown away.
LINGER_SECONDS = 3.0
END: Message = {"type": "http.request", "body": b"", "more_body": False}


def most_megabytes() -> int:
    """Return how much one request with files may hold."""
    return settings.DOCUMENT_MEGABYTES * FILES_AT_ONCE


class BodyLimit:
    """Lets through to *application* what it may read of a request."""

    def __init__(self, application: Callable[[Scope, Receive, Send], Awaitable[None]]) -> None:
        self._application = application
        self._large_bodies = asyncio.Semaphore(LARGE_BODIES_AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        declared = declared_bytes(scope)
        if declared is not None and declared <= settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            await self._application(scope, receive, send)
            return
        async with AsyncExitStack() as stack:
            most_bytes = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
            if await may_send_files(scope):
                most_bytes = most_megabytes() * 1_000_000 + FORM_BYTES
                await stack.enter_async_context(self._large_bodies)
            body = LimitedBody(scope, receive, send, most_bytes=most_bytes, declared=declared)
            await self._application(scope, body.receive, body.send)


class LimitedBody:
    """The body of one request, which ends where it gets too large; *declared* is its Content-Length."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, *, most_bytes: int, declared: int | None) -> None:
        self._scope, self._receive, self._send = scope, receive, send
        self._left_bytes = most_bytes
        self._is_cut = declared is not None and declared > most_bytes
        self._has_ended = False

    async def receive(self) -> Message:
        """Return the next piece; after a cut nothing comes any more, not even that the visitor has gone."""
        if self._has_ended:
            await asyncio.Event().wait()
        message = END if self._is_cut else await self._receive()
        self._left_bytes -= len(message.get("body", b""))
        if self._is_cut or self._left_bytes < 0:
            self._scope[MARK] = self._is_cut = self._has_ended = True
            return END
        return message

    async def send(self, message: Message) -> None:
        """Send the answer; the connection ends with it if the body was cut."""
        if self._is_cut and message["type"] == "http.response.start":
            headers = [*message.get("headers", ()), (b"connection", b"close")]
            message = message | {"headers": headers}
        elif self._is_cut and not message.get("more_body"):
            await self._send(message | {"more_body": True})
            await self._linger()
            message = {"type": "http.response.body"}
        await self._send(message)

    async def _linger(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER_SECONDS):
                while (message := await self._receive())["type"] == "http.request" and message.get("more_body"):
                    pass


def declared_bytes(scope: Scope) -> int | None:
    """Return the Content-Length; 0 for a request without a body, None where only counting tells."""
    headers = dict(scope["headers"])
    if b"transfer-encoding" in headers:
        return None
    declared = headers.get(b"content-length", b"0")
    return int(declared) if declared.isdigit() else None


async def may_send_files(scope: Scope) -> bool:
    """Whether files are taken here, and the visitor is signed in: what they may do there is asked later."""
    return takes_files(scope["path"]) and await in_thread(_is_signed_in)(scope)


def takes_files(path: str) -> bool:
    try:
        return resolve(path).view_name in TAKING_FILES
    except Resolver404:
        return False


def _is_signed_in(scope: Scope) -> bool:
    cookies = dict(scope["headers"]).get(b"cookie", b"").decode("latin-1")
    key = parse_cookie(cookies).get(settings.SESSION_COOKIE_NAME)
    store = import_module(settings.SESSION_ENGINE).SessionStore
    return bool(key) and SESSION_KEY in store(key)


@sync_and_async_middleware
def refuse_large_bodies(get_response):
    """Says what was refused; stands where the visitor and their language are known."""

    async def answer_async(request: HttpRequest) -> HttpResponseBase:
        if MARK in request.scope:
            return await sync_to_async(_refusal)(request)
        return await get_response(request)

    def answer(request: HttpRequest) -> HttpResponseBase:
        return get_response(request)  # without ASGI, as in tests, nobody marks anything

    return answer_async if iscoroutinefunction(get_response) else answer


def _refusal(request: HttpRequest) -> HttpResponseBase:
    if not takes_files(request.path_info):
        return refused(request, RequestTooLarge())
    is_signed_in = request.user.is_authenticated
    return refused(request, FilesTooLarge(megabytes=most_megabytes()) if is_signed_in else SignInRequired())
