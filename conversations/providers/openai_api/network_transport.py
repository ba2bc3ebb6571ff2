"""The network under the requests to a language model's provider: an `httpx2` client that speaks through aiohttp.

aiohttp stays linear with many connections, where httpx2's own pool turns quadratic. Its errors are not translated here:
`provider_connection` knows them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final

import aiohttp
import httpx2

from conversations.providers.egress.answer_limits import PLAIN_HEADERS, limit_answer
from conversations.providers.egress.broken_answers import KeptResponse
from conversations.providers.egress.transport import ssl_context
from conversations.providers.egress.unasked_answers import AskedConnector

CONNECTIONS: Final = 10_000  # aiohttp reads "no limit" as 100, so a number has to be named
KEEPALIVE_SECONDS: Final = 5.0  # for which an idle connection waits for another request
PIECE_BYTES: Final = 16 * 1024


class NetworkClient(httpx2.AsyncClient):
    """A client of plain answers, through the proxies of the environment. A redirect would carry the prompt away."""

    def __init__(self) -> None:
        super().__init__(
            follow_redirects=False, headers=PLAIN_HEADERS, event_hooks={"response": [limit_answer]}, timeout=None
        )

    def _init_transport(self, *args: Any, **kwargs: Any) -> httpx2.AsyncBaseTransport:
        return NetworkTransport()

    def _init_proxy_transport(self, proxy: httpx2.Proxy, *args: Any, **kwargs: Any) -> httpx2.AsyncBaseTransport:
        return NetworkTransport(proxy)


class NetworkTransport(httpx2.AsyncBaseTransport):
    """Sends requests through aiohttp, and through *proxy* if there is one. Belongs to one event loop.

    The extension `find_transport` of a response returns the connection that it comes by; None once all of it has come.
    """

    def __init__(self, proxy: httpx2.Proxy | None = None) -> None:
        self._proxy_options = _read_proxy_options(proxy)
        self._session: aiohttp.ClientSession | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        timeout = request.extensions["timeout"]
        response = await self._open_session().request(
            request.method,
            str(request.url),
            headers=request.headers,
            data=await request.aread() or None,  # an empty body would be announced as bytes of no kind
            allow_redirects=False,
            auto_decompress=False,
            timeout=aiohttp.ClientTimeout(
                connect=timeout["pool"], sock_connect=timeout["connect"], sock_read=timeout["read"]
            ),
            **self._proxy_options,
        )
        return httpx2.Response(
            response.status,
            headers=list(response.raw_headers),
            stream=_Body(response),
            request=request,
            extensions={"find_transport": lambda: response.connection and response.connection.transport},
        )

    async def aclose(self) -> None:
        if self._session:
            await self._session.close()

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = AskedConnector(keepalive_timeout=KEEPALIVE_SECONDS, ssl=ssl_context(), limit=CONNECTIONS)
            self._session = aiohttp.ClientSession(connector=connector, response_class=KeptResponse)
        return self._session


class _Body(httpx2.AsyncByteStream):
    """The body of an answer, in pieces as they come."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._response.content.iter_chunked(PIECE_BYTES):
            yield piece

    async def aclose(self) -> None:
        self._response.release()
        await self._response.wait_for_close()


def _read_proxy_options(proxy: httpx2.Proxy | None) -> dict[str, Any]:
    """Return what a request through *proxy* is given besides; nothing without one."""
    if proxy is None:
        return {}
    auth = aiohttp.BasicAuth(*proxy.auth) if proxy.auth else None
    return {"proxy": str(proxy.url), "proxy_auth": auth, "proxy_headers": proxy.headers}
