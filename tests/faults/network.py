"""A TCP proxy in front of PostgreSQL, which can forget its connections as a firewall does."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress

from tests.support.ports import free_port

PIECE_BYTES = 65_536


class DatabaseProxy:
    """Passes connections on to the Unix socket at *path*. `forget` lets what is on the open ones vanish for ever.

    They stay open, and the proxy's kernel goes on acknowledging: no time limit of TCP sees it.
    """

    def __init__(self, path: str) -> None:
        self._path, self.port = path, free_port()
        self._loop = asyncio.new_event_loop()
        self._open: set[_Link] = set()
        self.forgotten = 0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()

    def forget(self) -> int:
        """Forget all connections that are open; returns how many. New ones work."""
        return asyncio.run_coroutine_threadsafe(self._forget(), self._loop).result()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    async def _listen(self) -> None:
        await asyncio.start_server(self._serve, "127.0.0.1", self.port)

    async def _forget(self) -> int:
        links = [link for link in self._open if not link.is_forgotten]
        for link in links:
            link.is_forgotten = True
        return len(links)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        link = _Link()
        self._open.add(link)
        try:
            far_reader, far_writer = await asyncio.open_unix_connection(self._path)
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
    is_forgotten = False

    async def copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while piece := await reader.read(PIECE_BYTES):
                if not self.is_forgotten:
                    writer.write(piece)
                    await writer.drain()
