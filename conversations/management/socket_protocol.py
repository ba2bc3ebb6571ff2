"""WebSockets of uvicorn with limits that it has none of.

- A handshake that is none is refused. uvicorn would leave its connection open, silent and for ever.
- Pings are not answered to who does not read the answers (RFC 6455, 5.5.3, allows to answer the newest alone).
- A message has no more pieces than anyone's could need: empty ones count for no limit of bytes.
- Who reads nothing for a minute is cut off, also while the connection is being closed.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

from conversations.management.unread_clock import UNREAD_SECONDS, UnreadClock

MOST_PIECES = 1_000
TOO_LARGE = 1009
BAD_REQUEST = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class SocketProtocol(WebSocketsSansIOProtocol):
    """One WebSocket, from its handshake on."""

    unread_seconds = UNREAD_SECONDS

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._unread_clock = UnreadClock(transport, self.unread_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        self._unread_clock.stop()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread_clock.start()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._unread_clock.stop()

    def on_task_complete(self, task: asyncio.Task[None]) -> None:
        super().on_task_complete(task)
        if not self.disconnected:  # it is being closed, which waits until all has been read
            self._unread_clock.start()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.handshake_exc is not None and not self.handshake_initiated:
            self.transport.write(BAD_REQUEST)
            self.transport.close()

    def handle_ping(self) -> None:
        pongs = self.conn.data_to_send()
        if self.writable.is_set():
            self.transport.write(b"".join(pongs))

    def handle_cont(self, event: Frame) -> None:
        super().handle_cont(event)
        if len(self.frames) > MOST_PIECES and not self.close_sent:
            self.conn.fail(TOO_LARGE, "too many pieces")
            self.handle_parser_exception()

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self.transport.abort()
