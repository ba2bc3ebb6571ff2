"""Requests and sockets that end at an exact await point, in a process that has the ASGI application and no server.

    python -m tests.faults.cancelled_requests SEED N

with the site's settings in the environment, and people on stdin as JSON. A server tells an application of a client that
has gone by `http.disconnect` or `websocket.disconnect`, and Django cancels what it was doing. Where that happens in a
request is chosen among all its await points: each step of each of its tasks is counted, in a first request of its kind
to know how many there are, in those after it until the chosen one.

At the end it prints one line of JSON: how many ended so, what each whole request was answered, how many await points
each kind has, and how many of the pool's connections were not given back.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import traceback
from asyncio import AbstractEventLoop, Event, Queue, Task
from collections import Counter
from collections.abc import Callable, Coroutine, Generator
from contextvars import ContextVar
from random import Random
from typing import Any

from django.db import connection

from chatsite.asgi import application
from chatsite.postgres.connection import begin_serving

from .canaries import Person, Request

AT_ONCE = 8
POOL_RETURNS_SECONDS = 30
LONGEST_EXCHANGE_SECONDS = 60
ANSWERED = re.compile(rb'"type": ?"(message\.stored|error)"')  # a reply may be in the making still
Body = Coroutine[Any, Any, Any]


class AwaitPoints:
    """Counts the await points of one request; at the one with the number *last* it calls *cut*."""

    def __init__(self, last: int | None, cut: Callable[[], None]) -> None:
        self.passed, self.last, self._cut = 0, last, cut

    def pass_one(self) -> None:
        self.passed += 1
        if self.passed == self.last:
            self._cut()


points: ContextVar[AwaitPoints | None] = ContextVar("points", default=None)


class Counted:
    """Awaits *body*, and counts each of its await points."""

    def __init__(self, body: Body, counter: AwaitPoints) -> None:
        self._body, self._counter = body, counter

    def __await__(self) -> Generator[Any, Any, Any]:
        proceed: Callable[[], Any] = lambda: self._body.send(None)  # noqa: E731
        while True:
            try:
                waits_for = proceed()
            except StopIteration as end:
                return end.value
            self._counter.pass_one()
            try:
                yield waits_for
            except BaseException as error:
                proceed = lambda error=error: self._body.throw(error)  # noqa: E731
            else:
                proceed = lambda: self._body.send(None)  # noqa: E731


async def count(body: Body, counter: AwaitPoints) -> Any:
    return await Counted(body, counter)


def make_task(loop: AbstractEventLoop, body: Body, **options: Any) -> Task[Any]:
    """Make a task as the loop does, and count the await points of one that belongs to a request."""
    counter = points.get()
    return Task(count(body, counter) if counter else body, loop=loop, **options)


class Exchange:
    """One request or socket as a server has it with the application; what was answered is kept."""

    def __init__(self, person: Person, last: int | None) -> None:
        self.person, self.status, self.received = person, 0, bytearray()
        self.is_cut = False
        self.counter = AwaitPoints(last, self.cut)
        self._gone = Event()

    def cut(self) -> None:
        self.is_cut = True
        self._gone.set()

    async def run(self, scope: dict[str, Any]) -> None:
        """Return once the application has ended, if what it sent is its person's."""
        points.set(self.counter)
        await asyncio.create_task(application(scope, self.receive, self.send))
        self.person.check(bytes(self.received), scope["path"])

    async def receive(self) -> dict[str, Any]:
        raise NotImplementedError

    async def send(self, message: dict[str, Any]) -> None:
        self.status = message.get("status", self.status)
        received = message.get("body", b"") + (message.get("text") or "").encode()
        self.received += received
        await asyncio.sleep(0)  # where a server waits for a slow reader


class HttpExchange(Exchange):
    def __init__(self, person: Person, request: Request, last: int | None) -> None:
        super().__init__(person, last)
        self.request, self._is_sent = request, False

    async def receive(self) -> dict[str, Any]:
        if not self._is_sent:
            self._is_sent = True
            return {"type": "http.request", "body": self.request.body, "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def run(self, scope: dict[str, Any]) -> None:
        path, _, query = self.request.path.partition("?")
        scope |= {"type": "http", "method": self.request.method, "path": path, "query_string": query.encode()}
        await super().run(scope | {"headers": encoded(self.request.headers, length=len(self.request.body))})
        if not self.is_cut:
            self.person.check_whole(self.status, bytes(self.received), self.request)


class SocketExchange(Exchange):
    """A page that sends its frames and then leaves, unless it was cut off before."""

    def __init__(self, person: Person, frames: list[str], last: int | None) -> None:
        super().__init__(person, last)
        self._queue: Queue[dict[str, Any]] = Queue()
        for frame in ({"type": "websocket.connect"}, *({"type": "websocket.receive", "text": each} for each in frames)):
            self._queue.put_nowait(frame)

    def cut(self) -> None:
        self.is_cut = True
        self._queue.put_nowait({"type": "websocket.disconnect", "code": 1006})

    async def receive(self) -> dict[str, Any]:
        return await self._queue.get()

    async def send(self, message: dict[str, Any]) -> None:
        await super().send(message)
        if ANSWERED.search(self.received) and not self.is_cut:
            self.cut()

    async def run(self, scope: dict[str, Any]) -> None:
        headers = encoded(self.person.socket_headers())
        await super().run(scope | {"type": "websocket", "path": "/ws/", "query_string": b"", "headers": headers})


def encoded(headers: dict[str, str], **more: int) -> list[tuple[bytes, bytes]]:
    if "length" in more:
        headers = headers | {"Content-Length": str(more["length"])}
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()]


def new_exchange(person: Person, chance: Random, last: int | None) -> tuple[str, Exchange]:
    """Return a request of *person* or, one in five, a socket, and the name of its kind."""
    if chance.random() < 0.2:
        return "socket", SocketExchange(person, person.frames(), last)
    request = person.any_request(chance)
    return f"{request.method} {request.path.split('?')[0]}", HttpExchange(person, request, last)


async def cancel_requests(people: list[Person], chance: Random, wanted: int) -> dict[str, Any]:
    """Let *wanted* requests be cut, several at once, and return the report."""
    asyncio.get_running_loop().set_task_factory(make_task)
    known: dict[str, int] = {}  # kind → await points of a whole request
    statuses: Counter[str] = Counter()
    cut = 0

    async def ask_again_and_again() -> None:
        nonlocal cut
        while cut < wanted:
            seed = chance.getrandbits(64)
            person = chance.choice(people)
            kind, exchange = new_exchange(person, Random(seed), None)
            kind = kind.replace(person.conversation, "")
            if kind in known and chance.random() < 0.9:
                _, exchange = new_exchange(person, Random(seed), chance.randint(1, known[kind]))
            host = person.address.removeprefix("http://")
            try:
                async with asyncio.timeout(LONGEST_EXCHANGE_SECONDS):
                    await asyncio.create_task(exchange.run(scope_of(host)))
            except TimeoutError as error:
                said = bytes(exchange.received[-1_000:])
                raise AssertionError(f"{kind} did not end; cut: {exchange.is_cut}; it was sent {said!r}") from error
            if exchange.counter.last is None:
                known[kind] = max(known.get(kind, 0), exchange.counter.passed)
                statuses[f"{kind} {exchange.status}"] += 1
            else:
                cut += exchange.is_cut

    await asyncio.gather(*(ask_again_and_again() for _ in range(AT_ONCE)))
    return {"cut": cut, "statuses": statuses, "await_points": known, "connections_lost": await lost_connections()}


def scope_of(host: str) -> dict[str, Any]:
    name, port = host.split(":")
    asgi = {"version": "3.0", "spec_version": "2.3"}
    ends = {"server": (name, int(port)), "client": ("127.0.0.1", 1)}
    return {"asgi": asgi, "http_version": "1.1", "scheme": "http", "root_path": "", **ends}


async def lost_connections() -> int:
    """Return how many connections of the pool are not given back after some time."""
    for _ in range(POOL_RETURNS_SECONDS * 10):
        stats = connection.pool.get_stats()
        if not (lost := stats["pool_size"] - stats["pool_available"]):
            break
        await asyncio.sleep(0.1)
    return lost


def main() -> None:
    seed, wanted = map(int, sys.argv[1:])
    people = [Person(**fields) for fields in json.load(sys.stdin)]
    begin_serving()
    try:
        print(json.dumps(asyncio.run(cancel_requests(people, Random(seed), wanted))), flush=True)
    except AssertionError:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)  # without a server, what it would close at its end is open


if __name__ == "__main__":
    main()
