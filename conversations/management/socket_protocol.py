"""uvicorn's WebSockets, with limits and a fix that it lacks.

- A malformed handshake is answered 400. uvicorn would leave its connection open for ever.
- Pings are left unanswered while earlier answers are unread (RFC 6455, 5.5.3, allows to answer the newest alone).
- A message has a largest number of pieces: empty ones count for no limit of bytes.
- A handshake that is refused by a response of its own counts as complete: uvicorn would log an error for each.
- What is sent to a socket that is being closed raises an OSError, as to one that has gone: uvicorn has a RuntimeError.
- A connection of which nothing is read for a minute is cut off, also while it is being closed.
"""

from __future__ import annotations

import asyncio

from uvicorn._types import ASGISendEvent
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

from conversations.management.unread_clock import UnreadLimit

MOST_PIECES = 1_000
TOO_LARGE = 1009
BAD_REQUEST = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class SocketProtocol(UnreadLimit, WebSocketsSansIOProtocol):
    """One WebSocket, from its handshake on."""

    def on_task_complete(self, task: asyncio.Task[None]) -> None:
        super().on_task_complete(task)
        if not self.disconnected:  # it is being closed, which waits until all has been read
            self._unread_clock.start()

    async def send(self, message: ASGISendEvent) -> None:
        if self.close_sent and message["type"] in ("websocket.send", "websocket.close"):
            raise ClientDisconnected
        await super().send(message)
        if self.close_sent and self.initial_response is not None:
            self.handshake_complete = True  # https://github.com/Kludex/uvicorn/pull/3138

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
