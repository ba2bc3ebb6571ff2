"""uvicorn's WebSockets, with limits and a fix that it lacks.

- A malformed handshake is answered 400. uvicorn would leave its connection open for ever.
- Pings are left unanswered while earlier answers are unread (RFC 6455, 5.5.3, allows to answer the newest alone).
- A message has a largest number of pieces: empty ones count for no limit of bytes.
- A handshake that is refused by a response of its own counts as complete: uvicorn would log an error for each.
- What is sent to a socket that is being closed raises an OSError, as to one that has gone: uvicorn has a RuntimeError.
- A connection of which nothing is read for a minute is cut off, also while it is being closed.
- Text is sent at once where it can be (`send_now`), by an extension of ASGI: a round of the event loop before a task's.
- An idle socket keeps neither the heads of its handshake nor an empty queue: together they took a third of its memory.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

from uvicorn._types import ASGIReceiveEvent, ASGISendEvent
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import InvalidState
from websockets.frames import Frame

from conversations.management.unread_clock import UnreadLimit
from conversations.sockets.send_buffer import SEND_NOW

MOST_PIECES = 1_000
TOO_LARGE = 1009
BAD_REQUEST = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class SocketEvents:
    """The events of a socket that its application, the only reader, has not read. `asyncio.Queue` keeps 2.5 kB."""

    __slots__ = ("_events", "_waiting")

    def __init__(self) -> None:
        self._events: deque[ASGIReceiveEvent] | None = None  # an empty one keeps 700 bytes
        self._waiting: asyncio.Future[None] | None = None

    def empty(self) -> bool:
        return self._events is None

    def put_nowait(self, event: ASGIReceiveEvent) -> None:
        if self._events is None:
            self._events = deque()
        self._events.append(event)
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    async def get(self) -> ASGIReceiveEvent:
        while self._events is None:
            self._waiting = asyncio.get_running_loop().create_future()
            try:
                await self._waiting
            finally:
                self._waiting = None
        event = self._events.popleft()
        if not self._events:
            self._events = None
        return event


class SocketProtocol(UnreadLimit, WebSocketsSansIOProtocol):
    """One WebSocket, from its handshake on."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.queue = SocketEvents()  # type: ignore[assignment]

    async def run_asgi(self) -> None:
        """Run the application, which finds `send_now` among the extensions."""
        self.scope["extensions"][SEND_NOW] = self.send_now  # type: ignore[assignment]
        await super().run_asgi()

    def send_now(self, text: str) -> bool:
        """Send *text* and return True; False where the socket is not open, or what was sent before still waits.

        What can't be sent at all raises in `send`, which loses it alone: what is raised here closes the page.
        """
        is_open = self.handshake_complete and not self.close_sent and self.initial_response is None
        if not is_open or not self.writable.is_set() or self.transport.is_closing():
            return False
        try:
            self.conn.send_text(text.encode())
        except (InvalidState, UnicodeError):
            return False
        self.transport.write(b"".join(self.conn.data_to_send()))
        return True

    def on_task_complete(self, task: asyncio.Task[None]) -> None:
        super().on_task_complete(task)
        self.scope["extensions"].pop(SEND_NOW, None)  # else a socket that has ended refers to itself
        if not self.disconnected:  # it is being closed, which waits until all has been read
            self._unread_clock.start()

    async def send(self, message: ASGISendEvent) -> None:
        if self.close_sent and message["type"] in ("websocket.send", "websocket.close"):
            raise ClientDisconnected
        await super().send(message)
        if self.close_sent and self.initial_response is not None:
            self.handshake_complete = True  # https://github.com/Kludex/uvicorn/pull/3138
        if message["type"] == "websocket.accept":
            self._forget_handshake()

    def _forget_handshake(self) -> None:
        """Keep no head of the handshake, which has been answered: the parser and the scope's copies share them."""
        self.request.headers.clear()
        self.response.headers.clear()
        del self.scope["headers"][:]  # type: ignore[attr-defined]

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
