"""HTTP of uvicorn with a time-out for request headers, which it has none of: half-sent requests are closed.

Bodies that stop coming are ended by `conversations.views.http.body_limit`, connections between requests by uvicorn.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEADERS_SECONDS = 20.0


class HttpProtocol(HttpToolsProtocol):
    """One connection. The clock runs from its first moment, or from the first byte of a later request."""

    headers_seconds = HEADERS_SECONDS
    _until_headers: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start_clock()

    def data_received(self, data: bytes) -> None:
        is_between_requests = self.cycle is not None and self.cycle.response_complete
        if is_between_requests and self._until_headers is None:
            self._start_clock()
        super().data_received(data)

    def on_headers_complete(self) -> None:
        self._stop_clock()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_clock()
        super().connection_lost(exc)

    def _start_clock(self) -> None:
        self._until_headers = asyncio.get_running_loop().call_later(self.headers_seconds, self._close)

    def _stop_clock(self) -> None:
        if self._until_headers:
            self._until_headers.cancel()
            self._until_headers = None

    def _close(self) -> None:
        transport: Any = self.transport
        transport.abort()
