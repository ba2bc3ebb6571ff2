"""The least that could stand between a page and a provider: no accounts, no database, no window, nothing kept.

For each socket one streaming request, for each event of the stream one text message. Served as the site is.

    python -m tests.benchmarks._relay BASE_URL
"""

from __future__ import annotations

import socket
import sys
from typing import Any

import httpx2
import uvicorn

client = httpx2.AsyncClient(timeout=60, limits=httpx2.Limits(max_connections=None))


async def relay(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Stream the reply to the socket's one message, the body of a request."""
    if scope["type"] != "websocket":
        return
    await receive()
    await send({"type": "websocket.accept"})
    body = (await receive())["text"]
    headers = {"content-type": "application/json"}
    async with client.stream("POST", f"{sys.argv[1]}/chat/completions", content=body, headers=headers) as response:
        async for line in response.aiter_lines():
            if line:
                await send({"type": "websocket.send", "text": line.removeprefix("data: ")})
    await send({"type": "websocket.close"})


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
