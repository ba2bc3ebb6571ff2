"""Talks with MCP servers over streamable HTTP, in a process of its own (`mcp_child`). The only importer of the SDK.

Each listing, and each call, has a connection of its own, so nothing that a server remembers of one person is there for
another. All of it is bounded: time, bytes, pages. A server that asks us for something (a completion, a person's answer,
folders) is told that there is no such thing here.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import aiohttp
import httpx2
from mcp import Client, ClientSession, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    REQUEST_TIMEOUT,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    Implementation,
    PaginatedRequestParams,
    Tool,
)

from conversations.core.errors import ToolError, ToolResultTooLarge, ToolTimedOut, ToolUnreachable
from conversations.core.errors.error_messages import gettext_noop
from conversations.core.tools.listed_tools import MOST_TOOLS, ListedTool, clean
from conversations.providers.egress.destinations import EgressRefused, destination_of
from conversations.providers.egress.streaming_transport import StreamingEgressTransport

from .process_protocol import MOST_BYTES, McpConnection
from .results import text_of

MOST_PAGES: Final = 100
CONNECT_SECONDS: Final = 10.0
LONGEST_DETAIL: Final = 300
LONGEST_COMPLAINT: Final = 3_000  # of a tool about its call, which the language model may mend
CLIENT: Final = Implementation(name="windowseat", version="1")
_NOT_UNDERSTOOD: Final = gettext_noop("Its answer was not understood.")


@dataclass(slots=True)
class McpSession:
    """An open connection. *progress* is what the server said last of a call that runs."""

    session: ClientSession
    progress: str = ""

    async def tools(self) -> list[ListedTool]:
        """Return what the server offers, page by page, until it says that there are no more or it is too many."""
        found: list[ListedTool] = []
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            page = await self.session.list_tools(params=PaginatedRequestParams(cursor=cursor))
            found.extend(map(_listed, page.tools))
            if (cursor := page.next_cursor) is None or len(found) > MOST_TOOLS:
                break
        return found

    async def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Return the result as text. Raises `ToolError` with the server's own words where it says that it failed."""
        request = CallToolRequest(params=CallToolRequestParams(name=name, arguments=dict(arguments)))
        # Not the session's `call_tool`, which runs the server's own schema over the result, on our time.
        result = await self.session.send_request(request, CallToolResult, progress_callback=self._note)
        text = text_of(result)
        if result.is_error:
            raise ToolError(detail=clean(text[:LONGEST_COMPLAINT]))
        return text

    async def _note(self, progress: float, total: float | None, message: str | None) -> None:
        done = f"{progress:g} of {total:g}" if total else f"{progress:g}"
        self.progress = clean(" ".join(filter(None, (done, message)))[:LONGEST_DETAIL])


@asynccontextmanager
async def open_session(connection: McpConnection) -> AsyncIterator[McpSession]:
    """Connect, and close after it, however it ends. Raises a `ToolError` for all that goes wrong, also within."""
    opened = _Opened(asyncio.timeout(connection.timeout_seconds))
    cancellations = _cancellations()
    try:
        async with opened.limit, _client(connection, opened) as client:
            opened.session = McpSession(client.session)
            yield opened.session
            opened.is_done = True
    except Exception as error:
        if _cancellations() > cancellations:  # an answer that came while all was being closed hides why it was
            raise asyncio.CancelledError from error
        if not opened.is_done:  # what only its end went wrong with has been done, and must not seem to have failed
            raise _tool_error(error, opened) from error


def _cancellations() -> int:
    """Return how often the running task has been told to stop, by others than the SDK."""
    task = asyncio.current_task()
    return task.cancelling() if task else 0


@dataclass(slots=True)
class _Opened:
    """A connection and what has come of it so far. It *is_done* once whoever asked for it has what was wanted."""

    limit: asyncio.Timeout
    transport: StreamingEgressTransport | None = None
    session: McpSession | None = None
    is_done: bool = False

    @property
    def status(self) -> int:
        return self.transport.last_status if self.transport else 0

    @property
    def is_exhausted(self) -> bool:
        return self.transport is not None and self.transport.is_exhausted

    @property
    def progress(self) -> str:
        return self.session.progress if self.session else ""


@asynccontextmanager
async def _client(connection: McpConnection, opened: _Opened) -> AsyncIterator[Client]:
    destination = destination_of(connection.url, named_hosts=connection.named_hosts)
    opened.transport = StreamingEgressTransport(destination, most_bytes=MOST_BYTES)
    http_client = httpx2.AsyncClient(
        transport=opened.transport,
        headers=_headers(connection),
        timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
        follow_redirects=False,
        trust_env=False,
    )
    streams = streamable_http_client(connection.url, http_client=http_client, max_sse_event_size=MOST_BYTES)
    async with http_client, Client(streams, cache=None, client_info=CLIENT) as client:
        yield client


def _headers(connection: McpConnection) -> dict[str, str]:
    authorization = {"authorization": connection.authorization} if connection.authorization else {}
    return {"accept-encoding": "identity", "user-agent": CLIENT.name, **authorization}


def _listed(tool: Tool) -> ListedTool:
    """Return a tool without what is of no use here: icons, titles, the form of its results."""
    hints = tool.annotations
    reads = hints is not None and hints.read_only_hint is True and hints.destructive_hint is not True
    return ListedTool(tool.name, tool.description or "", tool.input_schema, read_only=reads)


def _tool_error(error: Exception, opened: _Opened) -> ToolError:
    """Return what *error* amounts to for whoever called."""
    cause = _cause_of(error)
    if opened.is_exhausted:
        return ToolResultTooLarge()
    if opened.limit.expired() or isinstance(cause, TimeoutError):
        return ToolTimedOut(detail=f"It last said: {opened.progress}" if opened.progress else "")
    if isinstance(cause, ToolError):
        return cause
    if isinstance(cause, MCPError):
        return _error_of_server(cause, opened)
    if isinstance(cause, EgressRefused):
        return ToolUnreachable(detail=str(cause))
    if isinstance(cause, ValueError | RuntimeError):
        return ToolUnreachable(detail=_NOT_UNDERSTOOD)
    return ToolUnreachable(detail=_words_of(cause))


def _words_of(error: BaseException) -> str:
    """Return what the system says of a connection that did not come about; of anything else only what it is."""
    if not isinstance(error, aiohttp.ClientConnectorError):
        return f"{type(error).__name__}."
    number = error.os_error.errno or 0
    words = os.strerror(number) if number > 0 else error.os_error.strerror  # looking names up has numbers of its own
    return f"{words}."


def _error_of_server(error: MCPError, opened: _Opened) -> ToolError:
    """Return what an error amounts to that the server sent, or that the SDK made of an answer without words."""
    if error.code == REQUEST_TIMEOUT:
        return ToolTimedOut()
    if opened.status >= 400 and error.code in (INTERNAL_ERROR, METHOD_NOT_FOUND):
        return ToolUnreachable(detail=f"HTTP {opened.status}.")
    if error.code == PARSE_ERROR:
        return ToolUnreachable(detail=_NOT_UNDERSTOOD)
    words = clean(error.message[:LONGEST_DETAIL])
    if error.code == CONNECTION_CLOSED:
        return ToolUnreachable(detail=words)
    return ToolError(detail=words) if error.code == INVALID_PARAMS else ToolUnreachable(detail=words)


def _cause_of(error: BaseException) -> BaseException:
    """Return what lies at the bottom of groups of errors, and of errors about a connection."""
    leaves = list(_leaves_of(error))
    cause = next((each for each in leaves if isinstance(each, ToolError | MCPError)), leaves[0])
    if isinstance(cause, aiohttp.ClientConnectorError) and isinstance(cause.os_error, EgressRefused):
        return cause.os_error
    return cause


def _leaves_of(error: BaseException) -> Iterator[BaseException]:
    if not isinstance(error, BaseExceptionGroup):
        yield error
        return
    for each in error.exceptions:
        yield from _leaves_of(each)
