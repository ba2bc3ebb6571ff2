"""A real MCP server, from the official SDK, on a loopback port; a test may change its tools while it runs.

    with serve_tools() as server:
        server.offer("add", add)
        ...
        assert server.calls == [("add", {"a": 1, "b": 2})]

Beside it, under `server.nonsense_url("…")`, an address that answers every request in one wrong way; see `Nonsense`.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from mcp import MCPError
from mcp.server.lowlevel import Server
from mcp_types import INVALID_PARAMS, CallToolResult, ListToolsResult, TextContent, Tool, ToolAnnotations

from tests.support.patience import PATIENCE_SECONDS
from tests.support.upstream import listen
from tests.support.upstream_answer import Cut

OBJECT = {"type": "object"}
NUMBERS = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
}
PAGE = 100
Handler = Callable[[Any, dict[str, Any]], Awaitable[CallToolResult]]


def said(text: str, *, is_error: bool = False) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=text)], is_error=is_error)


async def add(context: Any, arguments: dict[str, Any]) -> CallToolResult:
    return said(str(arguments["a"] + arguments["b"]))


async def hang(context: Any, arguments: dict[str, Any]) -> CallToolResult:
    for done in range(1, 4):
        await context.session.report_progress(done, 10, "files read")
    await asyncio.Event().wait()
    raise AssertionError


class ToolServer:
    """*tools* is what it lists, *calls* what it was asked for, *requests* the method and headers of each request.

    With *authorization* it lets no one else in. *is_old* servers know nothing of the protocol of 2026; *options* are
    the SDK's. A server that *is_cut* breaks every connection at the next piece of an answer, and one that
    *repeats_pages* never comes to the end of its listing.
    """

    def __init__(self, *, is_old: bool = False, authorization: str = "", **options: Any) -> None:
        self.tools: dict[str, Tool] = {}
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.paths: list[str] = []
        self.is_cut = False
        self.ended = threading.Event()  # a call that was running is not any more
        self.url = ""
        self.authorization = authorization
        self.options = options
        self.repeats_pages = False
        self._is_old = is_old
        self._handlers: dict[str, Handler] = {}
        self._server: Server[Any] = Server("tools", on_list_tools=self._list, on_call_tool=self._call)
        self._app = self._server.streamable_http_app(**options)

    def offer(self, name: str, handler: Handler = add, schema: dict[str, Any] = OBJECT, **fields: Any) -> None:
        """Offer a tool, in place of the one of that name. *fields* are `description` and hints about what it does."""
        description = fields.pop("description", f"Does {name}.")
        hints = ToolAnnotations(**fields) if fields else None
        self.tools[name] = Tool(name=name, description=description, input_schema=schema, annotations=hints)
        self._handlers[name] = handler

    def nonsense_url(self, kind: str) -> str:
        return self.url.replace("/mcp", f"/nonsense/{kind}")

    async def _list(self, context: Any, params: Any) -> ListToolsResult:
        first = int(params.cursor or 0) if params else 0
        tools = list(self.tools.values())
        after = 0 if self.repeats_pages else first + PAGE
        return ListToolsResult(
            tools=tools[first : first + PAGE], next_cursor=str(after) if after < len(tools) else None
        )

    async def _call(self, context: Any, params: Any) -> CallToolResult:
        if params.name not in self._handlers:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name}")
        self.calls.append((params.name, params.arguments or {}))
        try:
            return await self._handlers[params.name](context, params.arguments or {})
        finally:
            self.ended.set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        self.requests.append((scope["method"], headers))
        self.paths.append(scope["path"])
        if scope["path"].startswith("/nonsense/"):
            return await Nonsense(receive, send).answer(scope["path"].rpartition("/")[2])
        if self.authorization and headers.get("authorization") != self.authorization:
            return await answer(send, 401, b"who are you?")
        if self._is_old and headers.get("mcp-method") == "server/discover":
            return await answer(send, 400, b"no such method")
        return await self._app(scope, receive, self._cutting(send))

    def _cutting(self, send: Any) -> Any:
        async def cutting(message: Any) -> None:
            if self.is_cut:
                raise Cut
            await send(message)

        return cutting


async def answer(send: Any, status: int, body: bytes, kind: str = "text/plain", **headers: str) -> None:
    pairs = [(b"content-type", kind.encode()), *((k.encode(), v.encode()) for k, v in headers.items())]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})


class Nonsense:
    """Ways to answer that no server should have."""

    def __init__(self, receive: Any, send: Any) -> None:
        self._receive, self._send = receive, send

    async def answer(self, kind: str) -> None:
        await getattr(self, kind)()

    async def html(self) -> None:
        await answer(self._send, 200, b"<html>hello</html>", "text/html")

    async def broken_json(self) -> None:
        await answer(self._send, 200, b'{"jsonrpc": "2.0", "id"', "application/json")

    async def other_json(self) -> None:
        await answer(self._send, 200, b'{"jsonrpc": "2.0", "id": 0, "result": {"tools": 7}}', "application/json")

    async def accepted(self) -> None:
        await answer(self._send, 202, b"")

    async def down(self) -> None:
        await answer(self._send, 503, b"down")

    async def redirect(self) -> None:
        await answer(self._send, 307, b"", location="/mcp")

    async def compressed(self) -> None:
        await answer(self._send, 200, b"\x1f\x8b", "application/json", **{"content-encoding": "gzip"})

    async def crumbs(self) -> None:
        """A megabyte of the smallest values that there are, none of which is a tool."""
        tools = b"[]," * 333_333 + b"[]"
        body = b'{"jsonrpc": "2.0", "id": 1, "result": {"tools": [' + tools + b"]}}"
        await answer(self._send, 200, body, "application/json")

    async def values(self) -> None:
        """As many of the smallest values as are taken, in what is no listing either."""
        body = b'{"jsonrpc": "2.0", "id": 1, "result": {"tools": [' + b"[]," * 48_000 + b"[]]}}"
        await answer(self._send, 200, body, "application/json")

    async def notices(self) -> None:
        """Very many small events, and then nothing."""
        notices = b'data: {"jsonrpc": "2.0", "method": "notifications/x"}\n\n' * 6_000
        await self._begin_stream()
        await self._send({"type": "http.response.body", "body": notices, "more_body": True})
        await self.silent()

    async def come_again(self) -> None:
        """An end of the stream that asks to be connected to again, at once."""
        await answer(self._send, 200, b"id: 1\nretry: 0\n\n", "text/event-stream")

    async def silent(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def endless(self) -> None:
        """Events without an end, none of which is an answer."""
        event = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x" * 50_000}}
        await self._stream(f"event: message\ndata: {json.dumps(event)}\n\n".encode())

    async def endless_event(self) -> None:
        await self._stream(b"data: " + b"x" * 50_000 + b"\n")

    async def _begin_stream(self) -> None:
        headers = [(b"content-type", b"text/event-stream")]
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})

    async def _stream(self, piece: bytes) -> None:
        await self._begin_stream()
        gone = asyncio.create_task(self.silent())
        while not gone.done():
            await self._send({"type": "http.response.body", "body": piece, "more_body": True})
            await asyncio.sleep(0)


@contextmanager
def serve_tools(**options: Any) -> Iterator[ToolServer]:
    """Serve it in a thread of this process."""
    server = ToolServer(**options)
    config = uvicorn.Config(server, log_level="critical", lifespan="on", timeout_graceful_shutdown=1)
    runner, listener = uvicorn.Server(config), listen()
    server.url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
    thread = threading.Thread(target=runner.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        runner.should_exit = True
        thread.join(timeout=PATIENCE_SECONDS)
