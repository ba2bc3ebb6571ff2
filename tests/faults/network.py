"""A TCP proxy in front of PostgreSQL, Redis or a web process, which can forget connections as a firewall does."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Collection, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from tests.support.ports import free_port

PIECE_BYTES = 65_536
SUBSCRIBE = b"SUBSCRIBE"
T = TypeVar("T")


class ForgetfulProxy:
    """Passes connections on to *target*: the path of a Unix socket, or a port of this machine.

    `forget` lets what is on the open ones vanish for ever. They stay open, and the proxy's kernel goes on
    acknowledging: no time limit of TCP sees it. *delay_seconds* is what each piece takes that is passed on.
    """

    def __init__(self, target: str | int) -> None:
        self.target, self.port = target, free_port()
        self.delay_seconds = 0.0
        self._loop = asyncio.new_event_loop()
        self._open: set[_Link] = set()
        self.swallows_subscribers = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._call(self._listen())

    def forget(self) -> int:
        """Forget all connections that are open; returns how many. New ones work."""
        return self._call(self._forget(tuple(self._open)))

    def forget_subscribers(self) -> int:
        """Forget the open connections on which anything was subscribed to; returns how many. New ones work."""
        return self._call(self._forget([link for link in self._open if link.has_subscribed]))

    def swallow_subscribers(self) -> int:
        """The same, and forget each new one as soon as it subscribes, until `pass_on`."""
        self.swallows_subscribers = True
        return self.forget_subscribers()

    def pass_on(self) -> None:
        """Let new connections work; those that are forgotten stay so."""
        self.swallows_subscribers = False

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    async def _listen(self) -> None:
        await asyncio.start_server(self._serve, "127.0.0.1", self.port)

    def _call(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _forget(self, links: Collection[_Link]) -> int:
        newly = [link for link in links if not link.is_forgotten]
        for link in newly:
            link.is_forgotten = True
        return len(newly)

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if isinstance(self.target, int):
            return await asyncio.open_connection("127.0.0.1", self.target)
        return await asyncio.open_unix_connection(self.target)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        link = _Link(self)
        self._open.add(link)
        try:
            far_reader, far_writer = await self._connect()
            ends = [
                asyncio.create_task(link.copy(reader, far_writer)),
                asyncio.create_task(link.copy(far_reader, writer)),
            ]
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            while link.is_forgotten and not ends[0].done():  # the far end's goodbye is not passed on, either
                await asyncio.wait(ends[:1])
            for end in ends:
                end.cancel()
            for each in (writer, far_writer):
                each.close()
        finally:
            self._open.discard(link)


class _Link:
    has_subscribed = is_forgotten = False

    def __init__(self, proxy: ForgetfulProxy) -> None:
        self._proxy = proxy

    async def copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while piece := await reader.read(PIECE_BYTES):
                if SUBSCRIBE in piece:
                    self.has_subscribed = True
                    self.is_forgotten |= self._proxy.swallows_subscribers
                await asyncio.sleep(self._proxy.delay_seconds)
                if not self.is_forgotten:
                    writer.write(piece)
                    await writer.drain()
