"""The guarded transport for answers that are streamed, such as server-sent events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import aiohttp
import httpx2

from conversations.core.errors.error_messages import gettext_noop

from .destinations import EgressRefused
from .transport import UNDONE_HEADERS, AnswerTooLarge, EgressTransport

GOODBYE_SECONDS = 0.4
# Signs of JSON that begin a value. Four megabytes of the smallest take a minute to parse.
BEGINNINGS = (b",", b"[", b"{")
MOST_BEGINNINGS = 100_000
LINE_ENDS = (b"\n", b"\r")
MOST_LINES = 10_000  # of streams of events, of which each has two or more
MOST_REQUESTS = 500  # a server can make us poll without a pause, and ask us for something in every answer


class StreamingEgressTransport(EgressTransport):
    """Reads no more than *most_bytes* of all answers together, `MOST_LINES` of events, and to `MOST_REQUESTS` requests.

    A redirect is an error, so that no caller follows it. A DELETE, which only says goodbye, is not waited for long.
    *last_status* is that of the newest answer, 0 before one.
    """

    last_status = 0
    is_exhausted = False
    _requests = 0
    _beginnings = 0
    _lines = 0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self._require_destination(request.url)
        self._requests += 1
        self.is_exhausted |= self._requests > MOST_REQUESTS
        if self.is_exhausted:
            raise AnswerTooLarge("too much has been answered already")
        response = await self._opened().request(
            request.method,
            str(request.url),
            headers=request.headers,
            data=await request.aread(),
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(
                total=GOODBYE_SECONDS if request.method == "DELETE" else None,
                sock_connect=request.extensions["timeout"]["connect"],
            ),
        )
        try:
            self.last_status = response.status
            _require_plain(response)
        except BaseException:
            response.close()
            raise
        headers = [(name, value) for name, value in response.headers.items() if name.lower() not in UNDONE_HEADERS]
        take = self._take_events if response.content_type == "text/event-stream" else self._take
        return httpx2.Response(response.status, headers=headers, stream=_Pieces(response, take), request=request)

    def _take_events(self, piece: bytes) -> None:
        self._lines += sum(map(piece.count, LINE_ENDS))
        self._take(piece)

    def _take(self, piece: bytes) -> None:
        self._most_bytes -= len(piece)
        self._beginnings += sum(map(piece.count, BEGINNINGS))
        if self._most_bytes < 0 or self._beginnings > MOST_BEGINNINGS or self._lines > MOST_LINES:
            self.is_exhausted = True
            raise AnswerTooLarge("too much has been answered")


class _Pieces(httpx2.AsyncByteStream):
    """The body of an answer. Its connection is not used again, so an end that never comes holds nothing up."""

    def __init__(self, response: aiohttp.ClientResponse, take: Callable[[bytes], None]) -> None:
        self._response = response
        self._take = take

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._response.content.iter_any():
            self._take(piece)
            yield piece

    async def aclose(self) -> None:
        self._response.close()


def _require_plain(response: aiohttp.ClientResponse) -> None:
    if 300 <= response.status < 400:
        raise EgressRefused(gettext_noop("It redirects requests, and redirects are not followed."))
    if response.headers.get("content-encoding", "identity").lower() != "identity":  # a small one may become a huge one
        raise EgressRefused(gettext_noop("It sent a compressed answer, which was not asked for."))
