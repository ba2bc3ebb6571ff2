"""The MCP client: lists and calls a server's tools over streamable HTTP. The only importer of the SDK.

It runs in a process of its own (`child_process`). Each listing, and each call, has a connection of its own, so nothing
that a server remembers of one user is there for another. All of it is bounded: time, bytes, pages. A server that asks
us for something (a completion, a user's answer, folders) is told that there is no such thing here. Pictures, sounds and
files in a result are named in words and never fetched.
"""

from __future__ import annotations

import asyncio
import json
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
    AudioContent,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    Implementation,
    PaginatedRequestParams,
    ResourceLink,
    TextContent,
    Tool,
)
from mcp_types import TextResourceContents as TextResource

from conversations.core.errors import ToolError, ToolResultTooLarge, ToolTimedOut, ToolUnreachable
from conversations.core.errors.error_messages import gettext_noop
from conversations.core.tools.listed_tools import MOST_TOOLS, ListedTool, clean
from conversations.providers.egress.destinations import EgressRefused, parse_destination
from conversations.providers.egress.streaming_transport import StreamingEgressTransport

from .process_protocol import MOST_BYTES, McpConnection

Block = TextContent | ImageContent | AudioContent | EmbeddedResource | ResourceLink

MOST_PAGES: Final = 100
CONNECT_SECONDS: Final = 10.0
LONGEST_DETAIL: Final = 300
LONGEST_COMPLAINT: Final = 3_000  # of a tool about its call, which the language model may mend
CLIENT: Final = Implementation(name="windowseat", version="1")
_NOT_UNDERSTOOD: Final = gettext_noop("Its answer could not be understood.")


@dataclass(slots=True)
class SdkSession:
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
        text = _result_text(result)
        if result.is_error:
            raise ToolError(detail=clean(text[:LONGEST_COMPLAINT]))
        return text

    async def _note(self, progress: float, total: float | None, message: str | None) -> None:
        done = f"{progress:g} of {total:g}" if total else f"{progress:g}"
        self.progress = clean(" ".join(filter(None, (done, message)))[:LONGEST_DETAIL])


@asynccontextmanager
async def open_sdk_session(connection: McpConnection) -> AsyncIterator[SdkSession]:
    """Connect, and close after it, however it ends. Raises a `ToolError` for all that goes wrong, also within."""
    opened = _Connection(asyncio.timeout(connection.timeout_seconds))
    cancellations = _cancellations()
    try:
        async with opened.limit, _client(connection, opened) as client:
            opened.session = SdkSession(client.session)
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
class _Connection:
    """A connection and its state so far. It *is_done* once its caller has what was wanted."""

    limit: asyncio.Timeout
    transport: StreamingEgressTransport | None = None
    session: SdkSession | None = None
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
async def _client(connection: McpConnection, opened: _Connection) -> AsyncIterator[Client]:
    destination = parse_destination(connection.url, named_hosts=connection.named_hosts)
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


def _tool_error(error: Exception, opened: _Connection) -> ToolError:
    """Return the error of our own tree for *error*."""
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
    return ToolUnreachable(detail=_connection_error_text(cause))


def _connection_error_text(error: BaseException) -> str:
    """Return the system's reason for a connection that failed; of any other error only its class."""
    if not isinstance(error, aiohttp.ClientConnectorError):
        return f"{type(error).__name__}."
    number = error.os_error.errno or 0
    words = os.strerror(number) if number > 0 else error.os_error.strerror  # looking names up has numbers of its own
    return f"{words}."


def _error_of_server(error: MCPError, opened: _Connection) -> ToolError:
    """Return the error of our own tree for one that the server sent, or that the SDK made of an empty answer."""
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
    """Return the innermost error of groups, and of errors about a connection."""
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


def _result_text(result: CallToolResult) -> str:
    """Return the texts of *result* in their order; what is structured, as JSON, only where there is no text."""
    has_text = any(isinstance(block, TextContent) and block.text for block in result.content)
    if result.structured_content is not None and not has_text:
        structured = json.dumps(result.structured_content, ensure_ascii=False)
        return "\n".join((structured, *map(_block_text, result.content)))
    return "\n".join(map(_block_text, result.content))


def _block_text(block: Block) -> str:
    if isinstance(block, TextContent):
        return block.text
    if isinstance(block, ImageContent):
        return f"(an image, {block.mime_type}, which is not shown)"
    if isinstance(block, AudioContent):
        return f"(a sound, {block.mime_type}, which is not played)"
    if isinstance(block, ResourceLink):
        return f"(a link to {block.name}, {block.uri}, which was not opened)"
    if isinstance(block.resource, TextResource):
        return block.resource.text
    return f"(a file, {block.resource.uri}, {block.resource.mime_type or 'of no known kind'}, which was not opened)"
