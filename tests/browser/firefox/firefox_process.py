"""`python -m tests.browser.firefox.firefox_process`: Firefox ESR, with the one command answered that it lacks.

Playwright drives the Firefox of a distribution over WebDriver BiDi, and before it opens a page it always sends
`emulation.setMediaFeaturesOverride`, which Firefox ESR 153 refuses as unknown. So Playwright talks to a proxy that
answers that command and passes on all others. Dark colours can't be emulated, then.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys

from websockets.asyncio.client import connect
from websockets.asyncio.server import Server, ServerConnection, serve

UNKNOWN_TO_FIREFOX = "emulation.setMediaFeaturesOverride"
LISTENING = re.compile(r"WebDriver BiDi listening on (ws://\S+)")


async def main(arguments: list[str]) -> int:
    firefox = await asyncio.create_subprocess_exec(
        os.environ["FIREFOX_PATH"], *arguments, stderr=asyncio.subprocess.PIPE
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, firefox.terminate)
    assert firefox.stderr
    async for line in firefox.stderr:
        words = line.decode(errors="replace")
        if listening := LISTENING.search(words):
            proxy = await serve_proxy(listening[1])
            words = words.replace(listening[1], f"ws://127.0.0.1:{proxy.sockets[0].getsockname()[1]}")
        print(words, end="", file=sys.stderr, flush=True)
    return await firefox.wait()


async def serve_proxy(address: str) -> Server:
    """Return a server of WebSockets before the one at *address*."""

    async def connect_through(client: ServerConnection) -> None:
        assert client.request
        async with connect(address + client.request.path, max_size=None, proxy=None) as firefox:

            async def pass_commands() -> None:
                async for message in client:
                    command = json.loads(message)
                    if command["method"] == UNKNOWN_TO_FIREFOX:
                        await client.send(json.dumps({"type": "success", "id": command["id"], "result": {}}))
                    else:
                        await firefox.send(message)
                await firefox.close()

            async def pass_answers() -> None:
                async for message in firefox:
                    await client.send(message)
                await client.close()

            await asyncio.gather(pass_commands(), pass_answers(), return_exceptions=True)

    return await serve(connect_through, "127.0.0.1", 0, max_size=None)


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
