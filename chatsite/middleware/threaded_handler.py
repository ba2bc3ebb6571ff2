"""Requests with a synchronous view go to a thread once: middleware, view and signals run there one after the other.

Under ASGI Django hands each of them to a thread by itself, eleven times for a page, and starts and ends a thread for
each request. Here the thread calls Django's own synchronous chain, as WSGI and the test client do. Requests with an
asynchronous view, and those for which there is no view, such as static files, go the way of `GroupingHandler`. Figures,
and when to remove this, are in docs/decisions/0117.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from asgiref.sync import ThreadSensitiveContext, iscoroutinefunction
from django.conf import settings
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import get_script_prefix
from django.core.handlers.base import BaseHandler
from django.core.signals import request_started
from django.http import FileResponse, HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.urls import Resolver404, ResolverMatch, resolve, set_script_prefix

from .middleware_groups import GroupingHandler, listed_middleware

Scope = dict[str, Any]
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
InThread = Callable[[Callable[..., Any]], Callable[..., Awaitable[Any]]]

# It is asynchronous alone, and answers addresses that have no view.
LEFT_OUT = "chatsite.middleware.static_files.StaticFilesMiddleware"


class ThreadedHandler(GroupingHandler):
    """Django's ASGI application; *in_thread* makes of a function one to be awaited, which a thread calls.

    That thread gives its connection to the database back before it answers.
    """

    in_thread: InThread

    def __init__(self) -> None:
        super().__init__()
        self._chain = SynchronousChain()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (view := _synchronous_view(scope)) is None:
            await super().__call__(scope, receive, send)
        else:
            await self._handle_in_thread(view, scope, receive, send)

    async def _handle_in_thread(self, view: ResolverMatch, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, also where the client leaves meanwhile: a thread can't be stopped."""
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        with body:
            request, refusal = self.create_request(scope, body)
            if refusal is not None:
                await self.send_response(refusal, send)
                return
            response = await self.in_thread(self._answer)(request, view)
            if isinstance(response, StreamingHttpResponse):
                await self._send_stream(response, receive, send)
            else:
                await self.send_response(response, send)

    def _answer(self, request: HttpRequest, view: ResolverMatch) -> HttpResponseBase:
        """Return the response, closed unless it is a stream."""
        set_script_prefix(get_script_prefix(request.scope))  # type: ignore[attr-defined]  # of an ASGIRequest
        request_started.send(sender=type(self), scope=request.scope)  # type: ignore[attr-defined]
        response = self._chain.get_response_of(view, request)
        response._handler_class = type(self)  # type: ignore[attr-defined]  # whom Django names as sender
        if isinstance(response, FileResponse):
            response.block_size = self.chunk_size
        if not response.streaming:
            response.close()
        return response

    async def _send_stream(self, response: StreamingHttpResponse, receive: Receive, send: Send) -> None:
        """Send *response* until it ends or the client leaves."""
        try:
            async with ThreadSensitiveContext():
                sending = asyncio.create_task(self.send_response(response, send))
                listening = asyncio.create_task(self.listen_for_disconnect(receive))
                try:
                    await asyncio.wait((sending, listening), return_when=asyncio.FIRST_COMPLETED)
                finally:
                    sending.cancel()
                    listening.cancel()
                    sent, heard = await asyncio.gather(sending, listening, return_exceptions=True)
        finally:
            await self.in_thread(response.close)()
        for error in (sent, heard):
            if isinstance(error, Exception) and not isinstance(error, RequestAborted):
                raise error


class SynchronousChain(BaseHandler):
    """The site's middleware around its synchronous views."""

    def __init__(self) -> None:
        super().__init__()
        with listed_middleware([path for path in settings.MIDDLEWARE if path != LEFT_OUT]):
            self.load_middleware()

    def get_response_of(self, view: ResolverMatch, request: HttpRequest) -> HttpResponseBase:
        """Return the answer of *view*, which was found for the *request*, or of middleware around it."""
        request._found_view = view  # type: ignore[attr-defined]
        response: HttpResponseBase = self.get_response(request)
        return response

    def resolve_request(self, request: HttpRequest) -> ResolverMatch:
        """Return the view that was found already: to look for it takes 0.1 ms."""
        request.resolver_match = request._found_view  # type: ignore[attr-defined]
        return request.resolver_match


def _synchronous_view(scope: Scope) -> ResolverMatch | None:
    """Return the view at a request's address; None if it is asynchronous, or there is none."""
    if scope["type"] != "http":
        return None
    try:
        found = resolve(scope["path"].removeprefix(get_script_prefix(scope)))
    except Resolver404:
        return None
    return None if iscoroutinefunction(found.func) else found
