"""Limit the size of request bodies: larger ones are refused before Django writes them to its disk.

    BodyLimit (ASGI)  ── by Content-Length, or by counting what has none ──▶ an empty body, and a mark in the scope
    refuse_large_bodies (Django middleware)  ── the mark ──▶ 413 or 408, in words or as JSON, as every other refusal

Files may come in larger requests, to the few addresses that take them, from users who are signed in, and only so many
at once: the others wait, unread, so what lies on the disk is bounded. No user keeps them waiting by sending many at
once, or by sending hardly anything.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from typing import Any, Literal, cast
from weakref import WeakValueDictionary

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponseBase
from django.urls import Resolver404, resolve
from django.utils.decorators import sync_and_async_middleware

from chatsite.postgres.pool import release_connection
from conversations.core.errors import FilesTooLarge, RequestTooLarge, RequestTooSlow, SignInRequired
from conversations.views.http.errors import refused

from .user_share import STREAMED, declared_bytes, read_session_key, session_user

Scope = dict[str, Any]
Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Reason = Literal["large", "slow"]

TAKING_FILES = {
    "conversations:add_conversation_documents",
    "conversations:add_folder_documents",
    "conversations:add_scenario_documents",
    "conversations:add_picture",
    "conversations:post",
    "conversations:imports",
}
FILES_AT_ONCE = 5  # of the largest size, in one request
FORM_BYTES = 1_000_000  # what a form adds to its files
LARGE_BODIES_AT_ONCE = 8
LARGE_BODIES_OF_ONE_USER = 1
SLOWEST_BYTES_PER_SECOND = 20_000  # of a large body as a whole, after
SHORTEST_SECONDS = 30.0
MARK = "windowseat.body_refused"
# A client that is cut off while sending may never read why, so for a moment what comes is thrown away.
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
        self._of_senders: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        declared = declared_bytes(scope)
        if declared == 0:
            await self._application(scope, receive, send)
            return
        if declared is not None and declared <= settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            body = LimitedBody(scope, receive, send, most_bytes=declared, declared=declared)
            await self._application(scope, body.receive, body.send)
            return
        async with AsyncExitStack() as stack:
            most_bytes = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
            if sender := await sender_of_files(scope):
                most_bytes = most_megabytes() * 1_000_000 + FORM_BYTES
                own = self._of_senders.setdefault(sender, asyncio.Semaphore(LARGE_BODIES_OF_ONE_USER))
                await stack.enter_async_context(own)
                await stack.enter_async_context(self._large_bodies)
            body = LimitedBody(scope, receive, send, most_bytes=most_bytes, declared=declared)
            await self._application(scope, body.receive, body.send)


class LimitedBody:
    """The body of one request, which ends where it gets too large or too slow; *declared* is its Content-Length."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, *, most_bytes: int, declared: int | None) -> None:
        self._scope, self._receive, self._send = scope, receive, send
        self._most_bytes, self._read_bytes = most_bytes, 0
        self._began = time.monotonic()
        self._is_cut = declared is not None and declared > most_bytes
        self._has_ended = self._is_whole = False

    async def receive(self) -> Message:
        """Return the next piece; after a cut nothing comes any more, not even that the visitor has gone."""
        if self._has_ended:
            await asyncio.Event().wait()
        if self._is_cut:
            return self._end("large")
        try:
            async with asyncio.timeout(self._patience_seconds):
                message = await self._receive()
        except TimeoutError:
            return self._end("slow")
        self._is_whole = not message.get("more_body")
        self._read_bytes += len(message.get("body", b""))
        return self._end("large") if self._read_bytes > self._most_bytes else message

    @property
    def _patience_seconds(self) -> float | None:
        """How long the next piece may take; after the last one nothing comes but that the visitor has gone."""
        if self._is_whole:
            return None
        return self._began + SHORTEST_SECONDS + self._read_bytes / SLOWEST_BYTES_PER_SECOND - time.monotonic()

    def _end(self, reason: Reason) -> Message:
        self._scope[MARK] = reason
        self._is_cut = self._has_ended = True
        return END

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


async def sender_of_files(scope: Scope) -> str | None:
    """Return who sends files to where they are taken, if the visitor is signed in: what they may is asked later."""
    if not takes_files(scope["path"]):
        return None
    return await session_user(read_session_key(scope), is_read_again=True)


def takes_files(path: str) -> bool:
    try:
        return resolve(path).view_name in TAKING_FILES
    except Resolver404:
        return False


@sync_and_async_middleware
def refuse_large_bodies(get_response: Callable[..., Any]) -> Callable[..., Any]:
    """Answer a request whose body was refused. It stands where the visitor and their language are known."""

    async def answer_async(request: ASGIRequest) -> HttpResponseBase:
        if MARK in request.scope:
            return await sync_to_async(_refusal)(request)
        response: HttpResponseBase = await get_response(request)
        if response.streaming:
            note_stream(request)
            await sync_to_async(release_connection)()
        return response

    def answer(request: HttpRequest) -> HttpResponseBase:
        if not isinstance(request, ASGIRequest):  # as in tests: no request is marked
            return cast(HttpResponseBase, get_response(request))
        if MARK in request.scope:
            return _refusal(request)
        response: HttpResponseBase = get_response(request)
        if response.streaming:
            note_stream(request)
        return response

    return answer_async if iscoroutinefunction(get_response) else answer


def body_refusal(request: ASGIRequest) -> HttpResponseBase | None:
    """Return the answer to a request whose body was refused, where no files are taken; None to any other."""
    if MARK not in request.scope or takes_files(request.path_info):
        return None
    return refused(request, RequestTooSlow() if request.scope[MARK] == "slow" else RequestTooLarge())


def note_stream(request: ASGIRequest) -> None:
    """Note that the response is a stream: a client may read it as slowly as it likes."""
    cast(Scope, request.scope)[STREAMED] = True


def _refusal(request: ASGIRequest) -> HttpResponseBase:
    if (refusal := body_refusal(request)) is not None:
        return refusal
    if request.scope[MARK] == "slow":
        return refused(request, RequestTooSlow())
    is_signed_in = request.user.is_authenticated
    return refused(request, FilesTooLarge(megabytes=most_megabytes()) if is_signed_in else SignInRequired())
