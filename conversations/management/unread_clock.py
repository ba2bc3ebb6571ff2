"""Time limit of connections whose other side does not read: what waits for it would stay in memory without end."""

from __future__ import annotations

import asyncio
from typing import cast

UNREAD_SECONDS = 60.0  # as nginx's send_timeout: https://nginx.org/en/docs/http/ngx_http_core_module.html (2026-11-25)


class UnreadClock:
    """Aborts the connection of *transport* after *seconds* in which nothing of what waits to be sent was taken."""

    def __init__(self, transport: asyncio.Transport, seconds: float) -> None:
        self._transport = transport
        self._seconds = seconds
        self._timer: asyncio.TimerHandle | None = None
        self._waiting_bytes = 0

    def start(self) -> None:
        if self._timer is None:
            self._wait()

    def stop(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _wait(self) -> None:
        self._waiting_bytes = self._transport.get_write_buffer_size()
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._look)

    def _look(self) -> None:
        self._timer = None
        waiting_bytes = self._transport.get_write_buffer_size()
        if waiting_bytes >= self._waiting_bytes > 0:
            self._transport.abort()
        elif waiting_bytes:
            self._wait()


class UnreadLimit(asyncio.Protocol):
    """A mixin for a protocol of uvicorn: aborts its connection once nothing has been read for *unread_seconds*."""

    unread_seconds = UNREAD_SECONDS
    _unread_clock: UnreadClock

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._unread_clock = UnreadClock(cast(asyncio.Transport, transport), self.unread_seconds)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread_clock.start()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._unread_clock.stop()

    def connection_lost(self, exc: Exception | None) -> None:
        self._unread_clock.stop()
        super().connection_lost(exc)
