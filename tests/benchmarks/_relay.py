"""The least that could stand between a page and a provider: no accounts, no database, no window, nothing kept.

For each socket one streaming request, for each event of the stream one text message; for each POST the stream as it
comes. Served as the site is.

    python -m tests.benchmarks._relay BASE_URL
"""

from __future__ import annotations

import socket
import sys
from contextlib import AbstractAsyncContextManager
from typing import Any

import httpx2
import uvicorn

from tests.support.upstream import read_body

client = httpx2.AsyncClient(timeout=60, limits=httpx2.Limits(max_connections=None))


async def relay(scope: dict[str, Any], receive: Any, send: Any) -> None:
    if scope["type"] == "websocket":
        await relay_to_socket(receive, send)
    elif scope["type"] == "http":
        await relay_to_request(receive, send)


async def relay_to_socket(receive: Any, send: Any) -> None:
    """Stream the reply to the socket's one message, the body of a request."""
    await receive()
    await send({"type": "websocket.accept"})
    async with ask((await receive())["text"]) as response:
        async for line in response.aiter_lines():
            if line:
                await send({"type": "websocket.send", "text": line.removeprefix("data: ")})
    await send({"type": "websocket.close"})


async def relay_to_request(receive: Any, send: Any) -> None:
    """Stream the reply to a request, event by event, as a client of a provider reads it."""
    async with ask(await read_body(receive)) as response:
        headers = [(b"content-type", b"text/event-stream; charset=utf-8")]
        await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
        async for line in response.aiter_lines():
            if line:
                await send({"type": "http.response.body", "body": f"{line}\n\n".encode(), "more_body": True})
    await send({"type": "http.response.body", "body": b""})


def ask(body: str | bytes) -> AbstractAsyncContextManager[httpx2.Response]:
    headers = {"content-type": "application/json"}
    return client.stream("POST", f"{sys.argv[1]}/chat/completions", content=body, headers=headers)


def main() -> None:
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    print(f"ws://127.0.0.1:{listener.getsockname()[1]}/", flush=True)
    config = uvicorn.Config(
        relay,
        loop="uvloop",
        http="httptools",
        ws="websockets-sansio",
        ws_per_message_deflate=False,
        lifespan="off",
        log_level="warning",
    )
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
