"""The guarded transport: requests to one destination, without redirects, proxies and sockets in files."""

from __future__ import annotations

from functools import cache

import aiohttp
import httpx2
from aiohttp.abc import AbstractResolver

from conversations.core.errors.error_messages import gettext_noop

from .destinations import PORTS, Destination, EgressRefused
from .unasked_answers import AskedConnector

# What aiohttp has already undone.
UNDONE_HEADERS = frozenset({"content-encoding", "content-length", "transfer-encoding"})


ssl_context = cache(httpx2.create_ssl_context)  # making one takes fifty milliseconds


class AnswerTooLarge(ValueError):
    """An answer is larger than the limit of its request."""


class EgressTransport(httpx2.AsyncBaseTransport):
    """Connects to *destination* alone and reads answers of up to *most_bytes*. Belongs to one event loop.

    *resolver* takes the system's place.
    """

    def __init__(self, destination: Destination, *, most_bytes: int, resolver: AbstractResolver | None = None) -> None:
        self._destination = destination
        self._most_bytes = most_bytes
        self._resolver = resolver
        self._session: aiohttp.ClientSession | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self._require_destination(request.url)
        async with self._opened().request(
            request.method,
            str(request.url),
            headers=request.headers,
            data=await request.aread() or None,  # nothing at all, or it would be announced as bytes of no kind
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(sock_connect=request.extensions["timeout"]["connect"]),
        ) as response:
            content = await self._read(response)
        headers = [(name, value) for name, value in response.headers.items() if name.lower() not in UNDONE_HEADERS]
        return httpx2.Response(response.status, headers=headers, content=content, request=request)

    async def aclose(self) -> None:
        if self._session:
            await self._session.close()

    def _require_destination(self, url: httpx2.URL) -> None:
        allowed = self._destination
        host = url.raw_host.decode("ascii")  # as it is written: `host` would decode a name in xn--
        asked = (url.scheme, host.removesuffix("."), url.port or PORTS.get(url.scheme))
        if asked != (allowed.scheme, allowed.host, allowed.port):
            raise EgressRefused(gettext_noop("The request was for another server than this connection’s."))

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = AskedConnector(
                socket_factory=self._destination.open_socket,
                resolver=self._resolver,
                ssl=ssl_context(),
            )
            self._session = aiohttp.ClientSession(
                connector=connector, cookie_jar=aiohttp.DummyCookieJar(), trust_env=False
            )
        return self._session

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        pieces, left = [], self._most_bytes
        async for piece in response.content.iter_any():
            pieces.append(piece)
            if (left := left - len(piece)) < 0:
                raise AnswerTooLarge(f"the answer is larger than {self._most_bytes:,} bytes")
        return b"".join(pieces)
