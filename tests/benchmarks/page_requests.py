"""Requests a second of one web process: pages of conversations, beside a bare view of Django with one query.

    an empty page   a conversation without a message, the only one of its owner
    a full page     a conversation of 30 messages, with 50 in the list beside it

Both are asked for as a browser does, signed in, over connections that are kept. The bare view (`_bare_page`) has no
middleware and one query to the same PostgreSQL, and is served by the same server. The three take turns, and each ratio
is that of a page and the bare view of the same round: of requests a second by the clock, and of requests for each
second of the web process's processor time, which other work on the machine changes less. The worker is off.

    python -m tests.benchmarks.page_requests [--rounds 10] [--seconds 4] [--json FILE]
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import statistics
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlsplit

import httptools
import psutil
import uvloop

from tests.benchmarks._figures import Figures, arguments_for, verdict, write_json
from tests.benchmarks._processes import cpu_seconds, started
from tests.benchmarks._site import temporary_site
from tests.benchmarks.streaming import site_settings

BARE, EMPTY, FULL = "the bare view", "an empty page", "a full page"
GOALS = {EMPTY: 0.5, FULL: 0.25}
PEOPLE = 4  # of each page, with one connection each: a process lets one person's requests wait for each other
MESSAGES, LISTED = 30, 50
WARM_UP_SECONDS = 3.0
SILENCE_SECONDS = 30.0
ACCEPTED = {"Accept": "text/html", "Accept-Encoding": "gzip, deflate, br, zstd", "Accept-Language": "en"}
REPLY = """## Step {number}

Sorting by *insertion* takes each item and moves it to its place. It is **quick** for few items.

1. Take the next item.
2. Move what is larger one place up.
3. Put the item into the gap.

```python
for place, item in enumerate(items):
    while place and items[place - 1] > item:
        items[place], place = items[place - 1], place - 1
    items[place] = item
```
"""


@dataclass(frozen=True, slots=True)
class Page:
    """A *path* of the server at *address*, as its owner asks for it who is signed in by *cookie*."""

    address: str
    path: str
    cookie: str = ""

    def request(self) -> bytes:
        headers = {"Host": urlsplit(self.address).netloc, **ACCEPTED}
        if self.cookie:
            headers["Cookie"] = f"sessionid={self.cookie}"
        lines = [f"GET {self.path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        return "\r\n".join([*lines, "", ""]).encode()


@dataclass(frozen=True, slots=True)
class Served:
    """What serves some pages, with its processes."""

    pages: Sequence[Page]
    server: psutil.Process
    postgres: psutil.Process


@dataclass(frozen=True, slots=True)
class Round:
    """Answers of one server in some seconds, and the processor seconds of all who took part."""

    answers: int
    answer_bytes: int
    seconds: float
    server_seconds: float
    postgres_seconds: float
    client_seconds: float

    @property
    def a_second(self) -> float:
        return self.answers / self.seconds

    @property
    def a_processor_second(self) -> float:
        return self.answers / self.server_seconds


class Connection(asyncio.Protocol):
    """A connection that is kept, for one request after the other."""

    def __init__(self) -> None:
        self._answered: asyncio.Future[int] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        self._parser.feed_data(data)

    def on_message_complete(self) -> None:
        status = self._parser.get_status_code()
        if self._answered is None or self._answered.done():
            return
        if status == 200:
            self._answered.set_result(self._received)
        else:
            self._answered.set_exception(RuntimeError(f"answered with {status}"))

    def connection_lost(self, _error: Exception | None) -> None:
        if self._answered and not self._answered.done():
            self._answered.set_exception(ConnectionError("the server has closed the connection"))

    async def ask(self, request: bytes) -> int:
        """Return how many bytes the answer has. Raises `RuntimeError` if it is not the page."""
        self._parser, self._received = httptools.HttpResponseParser(self), 0
        self._answered = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await asyncio.wait_for(self._answered, SILENCE_SECONDS)

    def close(self) -> None:
        self._transport.close()


async def take_round(served: Served, seconds: float) -> Round:
    """Ask for the pages over one connection each, again and again, until so many *seconds* have passed."""
    loop, sizes = asyncio.get_running_loop(), []
    async with AsyncExitStack() as opened:

        async def ask_on(page: Page) -> None:
            place = urlsplit(page.address)
            _, connection = await loop.create_connection(Connection, place.hostname, place.port)
            opened.callback(connection.close)
            request = page.request()
            while time.monotonic() < until:
                sizes.append(await connection.ask(request))

        before, began = _processor_seconds(served), time.monotonic()
        until = began + seconds
        await asyncio.gather(*map(ask_on, served.pages))
        taken = time.monotonic() - began
        used = [end - begin for begin, end in zip(before, _processor_seconds(served), strict=True)]
    return Round(len(sizes), max(sizes), taken, *used)


def _processor_seconds(served: Served) -> list[float]:
    return [cpu_seconds(served.server), cpu_seconds(served.postgres), time.process_time()]


async def measure(servers: dict[str, Served], *, rounds: int, seconds: float) -> dict[str, list[Round]]:
    for served in servers.values():
        await take_round(served, WARM_UP_SECONDS)
    taken: dict[str, list[Round]] = {name: [] for name in servers}
    for number in range(rounds):
        for name in servers if number % 2 else reversed(servers):
            taken[name].append(await take_round(servers[name], seconds))
    return taken


def figures_of(taken: dict[str, list[Round]]) -> Figures:
    """Return medians of each server, and the ratios of each page to the bare view of the same round."""
    figures: Figures = {"rounds": len(taken[BARE]), "servers": {}, "all": {}}
    for name, rounds in taken.items():
        figures["all"][name] = [asdict(each) for each in rounds]
        figures["servers"][name] = {
            "a_second": statistics.median(each.a_second for each in rounds),
            "answer_bytes": max(each.answer_bytes for each in rounds),
            "server_ms": 1_000 / statistics.median(each.a_processor_second for each in rounds),
            "postgres_ms": statistics.median(1_000 * each.postgres_seconds / each.answers for each in rounds),
            "client_ms": statistics.median(1_000 * each.client_seconds / each.answers for each in rounds),
            "server_load": statistics.median(each.server_seconds / each.seconds for each in rounds),
        }
    for name in GOALS:
        pairs = list(zip(taken[name], taken[BARE], strict=True))
        figures[name] = {
            "by_clock": spread([page.a_second / bare.a_second for page, bare in pairs]),
            "by_processor_time": spread([page.a_processor_second / bare.a_processor_second for page, bare in pairs]),
        }
    return figures


def spread(ratios: Sequence[float]) -> Figures:
    return {"median": statistics.median(ratios), "lowest": min(ratios), "highest": max(ratios)}


def make_pages(address: str) -> dict[str, list[Page]]:
    """Store people with their conversations, and return their pages."""
    from conversations.models import Conversation
    from tests.benchmarks._people import make_people
    from tests.support.people import begin, post_answered

    pages: dict[str, list[Page]] = {EMPTY: [], FULL: []}
    for number, person in enumerate(make_people(2 * PEOPLE)):
        name = EMPTY if number < PEOPLE else FULL
        pages[name].append(Page(address, f"/c/{person.conversation}/", person.cookie))
        if name == FULL:
            conversation = Conversation.objects.select_related("owner").get(public_id=person.conversation)
            for _ in range(LISTED - 1):
                post_answered(begin(conversation.owner))
            for turn in range(MESSAGES // 2):
                post_answered(conversation, f"And what is step {turn}?", reply=REPLY.format(number=turn))
    return pages


def measure_site(*, rounds: int, seconds: float) -> Figures:
    """Make a site and a bare view of its database, and measure both."""
    with temporary_site(**site_settings("http://127.0.0.1:9/v1", "fake"), RUN_WORKER="false") as postgres:
        from django.db import connection, connections

        logging.disable(logging.INFO)  # who signs in is a line of its own, whatever LOG_LEVEL is
        pages = make_pages(os.environ["SITE_URL"])
        place = connection.get_connection_params()
        database = {name.upper(): str(place[name]) for name in ("host", "port", "user")} | {"NAME": place["dbname"]}
        connections.close_all()
        with (
            started("manage.py", "serve", ready="Stop it with") as (site, _),
            started("-m", "tests.benchmarks._bare_page", ready="http", DATABASE=json.dumps(database)) as (
                bare,
                address,
            ),
        ):
            bare_pages = [Page(address, page.path) for page in pages[EMPTY]]
            servers = {BARE: Served(bare_pages, bare, postgres)}
            servers |= {name: Served(each, site, postgres) for name, each in pages.items()}
            return figures_of(uvloop.run(measure(servers, rounds=rounds, seconds=seconds)))


def report(figures: Figures) -> None:
    print(f"{'medians of ' + str(figures['rounds']):<16}{'a second':>10}{'web, ms':>10}{'PostgreSQL':>12}{'client':>8}")
    for name, row in figures["servers"].items():
        print(
            f"{name:<16}{row['a_second']:>10.1f}{row['server_ms']:>10.2f}{row['postgres_ms']:>12.2f}"
            f"{row['client_ms']:>8.2f}   {row['answer_bytes']:,} bytes,"
            f" the web process uses {row['server_load']:.2f} of a core"
        )
    for name, goal in GOALS.items():
        for by in ("by_processor_time", "by_clock"):
            ratio = figures[name][by]
            print(
                f"{name} : the bare view, requests {by.replace('_', ' ')}: {verdict(ratio['median'], at_least=goal)},"
                f" {ratio['lowest']:.3f} to {ratio['highest']:.3f}"
            )


def main() -> None:
    parser = arguments_for(__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=4, help="of each of the three in a round")
    arguments = parser.parse_args()
    figures = measure_site(rounds=arguments.rounds, seconds=arguments.seconds)
    write_json(figures, arguments.json)
    report(figures)


if __name__ == "__main__":
    main()
