"""Sessions with MCP servers by way of a child process, so that nothing that they answer holds this one up.

    open_session(connection)  ──▶  socket to a fork of `child_process`, for this connection alone  ──▶  the server

This process never loads the SDK, which takes half a second and 30 MB. The other is started at the first connection, and
ends when this one does.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import subprocess
import sys
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from threading import BoundedSemaphore, Lock
from typing import Any, Final

from chatsite.folders import CODE
from conversations.core.errors import ToolBusy, ToolError, ToolResultTooLarge, ToolTimedOut
from conversations.core.errors.error_messages import gettext_noop
from conversations.core.tools.listed_tools import Listing

from .process_protocol import (
    LONGEST_LINE_BYTES,
    McpConnection,
    error_from_json,
    listing_from_json,
    read_line,
    write_line,
)

CHILD: Final = "conversations.providers.mcp.child_process"
logger = logging.getLogger(__name__)
KEPT_OF_ENVIRONMENT: Final = ("PATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "LD_LIBRARY_PATH")  # and no secrets
MOST_AT_ONCE: Final = 32
_NOT_STARTED: Final = gettext_noop("The process that connects to servers could not be started.")
START_SECONDS: Final = 30.0  # for the process to be there, which takes one of them on an idle machine
GRACE_SECONDS: Final = 5.0  # beyond the time of the connection, which the process keeps by itself


@dataclass(frozen=True, slots=True)
class McpSession:
    """A session with a server, through the child process. Its methods raise a `ToolError` for all that goes wrong."""

    _reader: StreamReader
    _writer: StreamWriter

    async def tools(self, *, server: str) -> Listing:
        """Return which of the offered tools are accepted, and which refused. *server* is our name for it."""
        return listing_from_json(await self._request({"list": server}))

    async def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Return the result as text, of a very long one the beginning."""
        text: str = (await self._request({"call": name, "arguments": arguments}))["text"]
        return text

    async def _request(self, order: Mapping[str, Any]) -> dict[str, Any]:
        self._writer.write(write_line(order))
        try:
            line = await self._reader.readline()
        except (ValueError, ConnectionError) as error:
            raise ToolResultTooLarge from error
        if not line:  # its answer took more work, or memory, than is given for it
            raise ToolResultTooLarge
        members = read_line(line)
        if "error" in members:
            raise error_from_json(members)
        return members


@asynccontextmanager
async def open_session(connection: McpConnection) -> AsyncIterator[McpSession]:
    """Open a session, and close it however its use ends. Raises `ToolError`s, also inside the `with` block."""
    if not _slots.acquire(blocking=False):
        raise ToolBusy
    try:
        reader, writer = await _connect()
        try:
            await _wait_for_greeting(reader)
            writer.write(write_line(connection.to_json()))
            async with asyncio.timeout(connection.timeout_seconds + GRACE_SECONDS):
                yield McpSession(reader, writer)
        except TimeoutError as error:
            raise ToolTimedOut from error
        finally:
            writer.close()
    finally:
        _slots.release()


async def _connect() -> tuple[StreamReader, StreamWriter]:
    try:
        return await asyncio.open_unix_connection(sock=_child.connect(), limit=LONGEST_LINE_BYTES)
    except OSError as error:
        raise _not_started() from error


async def _wait_for_greeting(reader: StreamReader) -> None:
    """Wait for the process to be there. Raises `ToolError` if it ends instead."""
    async with asyncio.timeout(START_SECONDS):
        if not await reader.readline():
            raise _not_started()


def _not_started() -> ToolError:
    logger.error("the process that talks with MCP servers could not be started", exc_info=True)
    return ToolError(detail=_NOT_STARTED)


class _WaitingChild:
    """The child that waits with the SDK loaded: started when it is needed, and again once it is gone."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    def connect(self) -> socket.socket:
        """Return our end of a connection to a fork of it. Raises `OSError`."""
        ours, theirs = socket.socketpair()
        with theirs, self._lock:
            socket.send_fds(self._control_socket(), [b"+"], [theirs.fileno()])
        return ours

    def _control_socket(self) -> socket.socket:
        """Return the socket that the child listens to, after starting the child if need be."""
        if self._control is None or self._process is None or self._process.poll() is not None:
            self._control, theirs = socket.socketpair()
            with theirs:
                self._process = subprocess.Popen(  # noqa: S603 -- our own program, no shell
                    [sys.executable, "-P", "-m", CHILD, str(theirs.fileno())],
                    pass_fds=[theirs.fileno()],
                    env=_environment(),
                    cwd="/",
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    start_new_session=True,
                )
        return self._control


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in KEPT_OF_ENVIRONMENT if name in os.environ}
    return {**kept, "PYTHONPATH": str(CODE), "LC_ALL": "C.UTF-8"}


_child: Final = _WaitingChild()
_slots: Final = BoundedSemaphore(MOST_AT_ONCE)
