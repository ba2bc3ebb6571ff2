"""What open pages cost: memory of an idle socket and of a streaming reply, processor time of 1,000 idle sockets.

All in the web process with its worker, after a warm-up. Each socket is another user's and follows a conversation of its
own. Memory is what belongs to the process alone (USS). A reply is measured in its midst: until then about half of its
tokens have come. The processor time of PostgreSQL is a figure of its own.

    python -m tests.benchmarks.open_sockets [--sockets 1000] [--replies 200] [--seconds 60] [--json FILE]
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from typing import Any

import psutil
import uvloop

from tests.benchmarks._clients import SitePage
from tests.benchmarks._figures import Figures, arguments_for, verdict, write_json
from tests.benchmarks._processes import cpu_seconds, started
from tests.benchmarks._site import temporary_site
from tests.benchmarks.streaming import site_settings

TOKENS, PACE_MILLISECONDS = 600, 100
CALM_SECONDS = 10.0  # then free memory has gone back, and the index of messages is written
OPENED_AT_ONCE = 20
SILENCE_SECONDS = 60.0
WARM_UP = 40
GOAL_SOCKET_KB, GOAL_REPLY_KB, GOAL_IDLE_PERCENT, GOAL_SOCKETS_PERCENT = 20, 60, 0.5, 3


@dataclass(frozen=True, slots=True)
class Costs:
    """Kilobytes of one, percent of a core: of the process, and of PostgreSQL's."""

    sockets: int
    replies: int
    seconds: float
    start_mb: float
    idle_percent: float
    idle_postgres_percent: float
    socket_kb: float
    sockets_percent: float
    sockets_postgres_percent: float
    reply_kb: float


@dataclass(frozen=True, slots=True)
class Site:
    """The processes that are measured."""

    server: psutil.Process
    postgres: psutil.Process

    def memory_bytes(self) -> int:
        used: int = self.server.memory_full_info().uss
        return used

    async def take_load(self, seconds: float) -> tuple[float, float]:
        """Return what of a core the server and PostgreSQL use, in percent, in the *seconds* that follow."""
        before = cpu_seconds(self.server), cpu_seconds(self.postgres)
        await asyncio.sleep(seconds)
        after = cpu_seconds(self.server), cpu_seconds(self.postgres)
        server, postgres = ((end - begin) / seconds * 100 for begin, end in zip(before, after, strict=True))
        return server, postgres


async def open_page(page: SitePage, opened: AsyncExitStack) -> Any:
    """Open the socket of *page*, which stays open with *opened*, and let it follow its conversation."""
    socket = await opened.enter_async_context(page.connect())
    await page.follow(socket)
    return socket


async def read_frame(socket: Any) -> dict[str, Any]:
    frame: dict[str, Any] = json.loads(await asyncio.wait_for(socket.recv(), SILENCE_SECONDS))
    return frame


async def open_pages(pages: Sequence[SitePage], opened: AsyncExitStack) -> list[Any]:
    room = asyncio.Semaphore(OPENED_AT_ONCE)

    async def open_one(page: SitePage) -> Any:
        async with room:
            return await open_page(page, opened)

    return await asyncio.gather(*(open_one(page) for page in pages))


async def read_to_the_middle(socket: Any, page: SitePage) -> None:
    """Ask, and read until half of the reply has come."""
    await socket.send(json.dumps(page._message()))
    until = time.monotonic() + TOKENS * PACE_MILLISECONDS / 1000 / 2
    while time.monotonic() < until:
        frame = await read_frame(socket)
        if frame["type"] in ("reply.failed", "reply.done", "error"):
            raise RuntimeError(f"not what was expected: {frame}")


async def measure(site: Site, pages: Sequence[SitePage], *, replies: int, seconds: float) -> Costs:
    async with AsyncExitStack() as opened:
        for _ in range(2):
            await asyncio.gather(*(page.ask() for page in pages[:WARM_UP]))
            async with AsyncExitStack() as warm:
                await open_pages(pages[: 5 * WARM_UP], warm)
        await asyncio.sleep(CALM_SECONDS)
        start_bytes = site.memory_bytes()
        idle = await site.take_load(seconds)
        sockets = await open_pages(pages, opened)
        await asyncio.sleep(CALM_SECONDS)
        opened_bytes = site.memory_bytes()
        with_sockets = await site.take_load(seconds)
        asking = list(zip(sockets[:replies], pages[:replies], strict=True))
        await asyncio.gather(*(read_to_the_middle(socket, page) for socket, page in asking))
        streaming_bytes = site.memory_bytes()
    return Costs(
        sockets=len(pages),
        replies=replies,
        seconds=seconds,
        start_mb=start_bytes / 1e6,
        idle_percent=idle[0],
        idle_postgres_percent=idle[1],
        socket_kb=(opened_bytes - start_bytes) / len(pages) / 1e3,
        sockets_percent=with_sockets[0],
        sockets_postgres_percent=with_sockets[1],
        reply_kb=(streaming_bytes - opened_bytes) / replies / 1e3,
    )


def report(costs: Costs) -> None:
    print(f"{costs.sockets} sockets, {costs.replies} replies; {costs.seconds:.0f} s for each processor time")
    print(f"no socket: {costs.start_mb:.0f} MB; of a core, %: {verdict(costs.idle_percent, at_most=GOAL_IDLE_PERCENT)}")
    print(f"  PostgreSQL, %: {costs.idle_postgres_percent:.2f}")
    print(f"an idle socket, kB: {verdict(costs.socket_kb, at_most=GOAL_SOCKET_KB)}")
    print(f"all of them, of a core, %: {verdict(costs.sockets_percent, at_most=GOAL_SOCKETS_PERCENT)}")
    print(f"  PostgreSQL, %: {costs.sockets_postgres_percent:.2f}")
    print(f"a streaming reply, kB: {verdict(costs.reply_kb, at_most=GOAL_REPLY_KB)}", flush=True)


def main() -> None:
    arguments = arguments_for(__doc__.splitlines()[0])
    arguments.add_argument("--sockets", type=int, default=1000)
    arguments.add_argument("--replies", type=int, default=200)
    arguments.add_argument("--seconds", type=float, default=60)
    chosen = arguments.parse_args()
    costs: Figures = asdict(measure_site(chosen.sockets, chosen.replies, chosen.seconds))
    report(Costs(**costs))
    write_json(costs, chosen.json)


def measure_site(sockets: int, replies: int, seconds: float) -> Costs:
    language_model = f"markdown-{TOKENS}-{PACE_MILLISECONDS}"
    with (
        started("-m", "tests.benchmarks._provider", ready="http") as (_, base_url),
        temporary_site(**site_settings(base_url, language_model), REPLIES_AT_ONCE=str(replies)) as postgres,
    ):
        from tests.benchmarks._people import make_people

        people = make_people(sockets)
        with started("manage.py", "serve", ready="Stop it with") as (server, _):
            pages = [SitePage(os.environ["SITE_URL"], each.cookie, each.conversation) for each in people]
            return uvloop.run(measure(Site(server, postgres), pages, replies=replies, seconds=seconds))


if __name__ == "__main__":
    main()
