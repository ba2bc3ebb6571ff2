"""HTTP of uvicorn with limits that it has none of: half-sent and huge headers are closed, and so is who does not read.

Two Cookie headers are joined to one, as HTTP/2 asks of who hands them on: else Django, Channels and we would each read
another session from them. Fields after a body (trailers) are thrown away.

Bodies that stop coming are ended by `conversations.views.http.body_limit`, connections between requests by uvicorn.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from conversations.management.unread_clock import UnreadLimit

HEADERS_SECONDS = 20.0
MOST_HEAD_BYTES = 65_536  # of address, names and values
MOST_FIELDS = 200
MOST_READ_BYTES = 262_144  # that the event loop hands over at once


class HttpProtocol(UnreadLimit, HttpToolsProtocol):
    """One connection. The clock runs from its first moment, or from the first byte of a later request."""

    headers_seconds = HEADERS_SECONDS
    _until_headers: asyncio.TimerHandle | None = None
    _is_in_head = True
    _unread_bytes = _head_bytes = _fields = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start_clock()

    def data_received(self, data: bytes) -> None:
        is_between_requests = self.cycle is not None and self.cycle.response_complete
        if is_between_requests and self._until_headers is None:
            self._start_clock()
        super().data_received(data)
        if self._is_in_head:  # the parser keeps an address or a value to itself until it has come to its end
            self._unread_bytes += len(data)
            if self._unread_bytes > MOST_HEAD_BYTES + MOST_READ_BYTES:
                self.send_400_response("Invalid HTTP request received.")

    def on_message_begin(self) -> None:
        self._is_in_head = True
        self._unread_bytes = self._head_bytes = self._fields = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._count(url)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._fields += 1
        self._count(name + value)
        if self._is_in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._is_in_head = False
        self._stop_clock()
        if self._is_for_socket_with_body():  # its body would be thrown away for as long as it lasts
            raise ValueError("a WebSocket's handshake is a GET without a body")
        cookies = [value for name, value in self.headers if name == b"cookie"]
        if len(cookies) > 1:
            rest = [(name, value) for name, value in self.headers if name != b"cookie"]
            self.headers[:] = [*rest, (b"cookie", b"; ".join(cookies))]
        super().on_headers_complete()

    def _count(self, piece: bytes) -> None:
        """Count a piece of the head. What is raised here the parser turns into its own error, which is answered 400."""
        self._head_bytes += len(piece)
        if self._head_bytes > MOST_HEAD_BYTES or self._fields > MOST_FIELDS:
            raise ValueError("the head of a request is too large")

    def _is_for_socket_with_body(self) -> bool:
        if not (self.parser.should_upgrade() and self._should_upgrade()):
            return False
        fields = dict(self.headers)
        has_body = b"transfer-encoding" in fields or fields.get(b"content-length", b"0").strip(b"0") != b""
        return has_body or self.parser.get_method() != b"GET"

    def handle_websocket_upgrade(self) -> None:
        self._unread_clock.stop()
        super().handle_websocket_upgrade()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.transport.is_closing():  # which waits until all has been read
            self._unread_clock.start()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._unread_clock.start()

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
