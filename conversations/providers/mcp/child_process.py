"""The child processes of MCP connections: one that has loaded the SDK and waits, and a fork of it per connection.

What a server answers is parsed and checked in its fork alone: however much work that is, the site does not stand still.
The operating system ends a fork that takes too much of the processor or of memory, or that nothing else ends.
"""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import signal
import socket
import sys
from asyncio import Queue, StreamReader, StreamWriter
from contextlib import suppress
from typing import Any, Final

from conversations.core.errors import ToolError
from conversations.core.tools.listed_tools import accept
from conversations.providers.egress.transport import ssl_context
from conversations.providers.mcp.client import SdkSession, open_sdk_session
from conversations.providers.mcp.process_protocol import (
    LONGEST_LINE_BYTES,
    McpConnection,
    error_to_json,
    listing_to_json,
    read_line,
    write_line,
)

CPU_SECONDS: Final = 10  # the most expensive listing within the limits takes about two
MEMORY_BYTES: Final = 1_000_000_000
FAREWELL_SECONDS: Final = 1.0  # to the server, once the parent is gone
GOODBYE_SECONDS: Final = 10  # beyond the time of its connection
LONGEST_TEXT_CHARACTERS: Final = 1_000_000  # of a result, of which less is kept


def main() -> None:
    """Wait for connections, each a socket that the parent sends, until it is gone."""
    logging.disable()  # the SDK logs what servers write; what matters goes to the parent
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    ssl_context()  # which is costly, and then shared
    control = socket.socket(fileno=int(sys.argv[1]))
    while handed := socket.recv_fds(control, 1, 1)[1]:
        if os.fork() == 0:
            control.close()
            _serve(handed[0])
        os.close(handed[0])


def _serve(fd: int) -> None:
    """Follow the orders that come by that socket, and end."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        limit_work(cpu_seconds=CPU_SECONDS)
        asyncio.run(_serve_connection(socket.socket(fileno=fd)))
    finally:
        os._exit(0)


def limit_work(*, cpu_seconds: int) -> None:
    """Let the operating system end this process if it takes more, from its beginning on."""
    for kind, most in (
        (resource.RLIMIT_CPU, cpu_seconds),
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, most))


async def _serve_connection(parent: socket.socket) -> None:
    reader, writer = await asyncio.open_unix_connection(sock=parent, limit=LONGEST_LINE_BYTES)
    writer.write(write_line({}))
    if line := await reader.readline():
        members = read_line(line)
        connection = McpConnection(**members)
        signal.alarm(int(connection.timeout_seconds) + GOODBYE_SECONDS)
        await _ConnectionWorker(connection, writer).run(reader)


class _ConnectionWorker:
    """Serves one connection for as long as the parent sends orders."""

    def __init__(self, connection: McpConnection, writer: StreamWriter) -> None:
        self._connection = connection
        self._writer = writer
        self._orders: Queue[dict[str, Any]] = Queue()
        self._answering: asyncio.Task[dict[str, Any]] | None = None

    async def run(self, reader: StreamReader) -> None:
        serving = asyncio.create_task(self._serve())
        with suppress(ConnectionError):
            while line := await reader.readline():
                self._orders.put_nowait(read_line(line))
        self._abandon()
        await asyncio.wait([serving], timeout=FAREWELL_SECONDS)
        serving.cancel()

    def _abandon(self) -> None:
        """The parent no longer waits: begin nothing, and cancel what is running, with a notification to the server."""
        while not self._orders.empty():
            self._orders.get_nowait()
        self._orders.put_nowait({})
        if self._answering:
            self._answering.cancel()

    async def _serve(self) -> None:
        try:
            async with open_sdk_session(self._connection) as session:
                while order := await self._orders.get():
                    self._answering = asyncio.create_task(_answer(session, order))
                    self._writer.write(write_line(await self._answering))
                    self._answering = None
        except ToolError as error:
            self._writer.write(write_line(error_to_json(error)))
        with suppress(ConnectionError):
            await self._writer.drain()


async def _answer(session: SdkSession, order: dict[str, Any]) -> dict[str, Any]:
    """Follow one order. Raises a `ToolError` for all that goes wrong."""
    if "list" in order:
        return listing_to_json(accept(await session.tools(), server=order["list"]))
    text = await session.call(order["call"], order["arguments"])
    return {"text": text[:LONGEST_TEXT_CHARACTERS]}


if __name__ == "__main__":
    main()
