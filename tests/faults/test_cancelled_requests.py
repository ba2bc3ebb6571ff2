"""Requests and sockets of several people that end at random moments: no answer has another person's words in it.

Twice: clients of the served site cut their connections, and in a process with the ASGI application alone requests end
at an exact await point (`cancelled_requests.py`). `make faults` cancels 10,000 in all. A page that has begun in its
thread is made to its end: a cut at an await point ends requests with an asynchronous view, streams, sockets, and bodies
that are still read.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import secrets
import socket
import struct
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, suppress
from dataclasses import asdict
from random import Random

import h11
import psycopg
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from tests.support.api_clients import make_key
from tests.support.patience import PATIENCE_SECONDS, wait_for
from tests.support.source import PROJECT

from .browsers import Browser
from .canaries import Person
from .conftest import UNEXPECTED, checked

CUT_CONNECTIONS, CUT_AT_AWAIT_POINTS = 150, 50  # 50 rounds are 10,000
PEOPLE, REQUESTS_PER_USER, SOCKETS_PER_USER = 4, 2, 12
AT_ONCE = 12
LONGEST_WAIT_SECONDS = 0.1  # about as long as the slowest answer takes
POOL_SIZE = PEOPLE * REQUESTS_PER_USER
STAYED_IN_TRANSACTION = """
SELECT pid, query FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
AND state LIKE 'idle in transaction%%' AND state_change < %s
"""
WAITING = "SELECT count(*) >= %s FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
TITLE = "UPDATE conversations_conversation SET title = %s WHERE public_id = %s"


@pytest.fixture(scope="module")
def crowded_site(make_site):
    """A site with few connections. No limit of the server's ends a transaction that was left open."""
    with make_site(
        RUN_WORKER="off",
        LANGUAGE_MODELS="echo context_window=16384 encoding=o200k_base input_usd=1 output_usd=2",
        DATABASE_POOL_SIZE=str(POOL_SIZE),
        DATABASE_STATEMENT_SECONDS="0",
        REQUESTS_PER_USER=str(REQUESTS_PER_USER),
        SOCKETS_PER_USER=str(SOCKETS_PER_USER),
    ) as site:
        site.serve()
        site.run_worker()
        yield site


@pytest.fixture
def site(crowded_site):
    before = crowded_site.log.stat().st_size
    with checked(crowded_site):
        yield crowded_site
    said = crowded_site.log.read_text()[before:]
    assert not UNEXPECTED.search(said), said


@pytest.fixture
def people(site):
    """New ones in each round, each with a conversation that has their canary."""
    site.database.rows("UPDATE conversations_scenario SET language_model = 'echo'")
    people = [new_person(site) for _ in range(PEOPLE)]
    site.wait_until_quiet()
    return people


def new_person(site):
    canary = f"canary-{secrets.token_hex(8)}"
    # Each from an address of its own: only so many sign up from one.
    browser = Browser(site.address, comes_from=".".join(["127", *(str(1 + secrets.randbelow(250)) for _ in range(3))]))
    browser.sign_up(f"{canary}@example.org")
    person = Person(
        canary,
        site.address,
        browser.cookie_header,
        browser.cookie("csrftoken"),
        make_key(site, person=browser.person),
        site.begin(browser),
    )
    site.database.rows(TITLE, f"A title of {canary}", person.conversation)
    status, _ = browser.post(person.conversation, person.words())
    assert status == 201
    return person


# On connections


class Client:
    """A connection to the site on which requests follow each other, also those of several people, as behind a proxy."""

    async def open(self, site):
        host, _, port = site.address.removeprefix("http://").partition(":")
        self.host = f"{host}:{port}"
        self.reader, self.writer = await asyncio.open_connection(host, int(port))
        self._http = h11.Connection(h11.CLIENT)

    async def ask(self, person, request):
        """Read the whole answer, and check it."""
        self.writer.write(request.to_bytes(self.host))
        self._http.send(h11.Request(method=request.method, target=request.path, headers=[("Host", self.host)]))
        self._http.send(h11.EndOfMessage())
        status, body = 0, b""
        while not isinstance(event := await self._next_event(), h11.EndOfMessage):
            if isinstance(event, h11.Response):
                status = event.status_code
            body += bytes(event.data) if isinstance(event, h11.Data) else b""
        person.check_whole(status, body, request)
        if self._http.our_state is h11.DONE and self._http.their_state is h11.DONE:
            self._http.start_next_cycle()
            return True
        return False

    async def _next_event(self):
        while (event := self._http.next_event()) is h11.NEED_DATA:
            self._http.receive_data(await self.reader.read(65_536))
        return event

    async def ask_and_leave(self, person, request, chance):
        """Leave while the request is sent, while it is handled, or while the answer comes."""
        sent = request.to_bytes(self.host)
        where = chance.choice(("sending", "handled", "answered"))
        self.writer.write(sent[: chance.randrange(len(sent))] if where == "sending" else sent)
        if where == "handled":
            await asyncio.sleep(chance.uniform(0, LONGEST_WAIT_SECONDS))
        elif where == "answered":
            person.check(await self.reader.read(chance.choice((1, 1_000, 30_000))), request)
        self.leave(is_reset=chance.random() < 0.5)

    def leave(self, *, is_reset=False):
        if is_reset:
            end = self.writer.get_extra_info("socket")
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.writer.transport.abort()
        self.writer.close()


async def cancel_one(site, people, chance):
    """Let one request end early, or one socket; before it, requests of others are answered on the same connection."""
    person = chance.choice(people)
    if chance.random() < 0.2:
        await leave_socket(person, chance)
        return
    client = Client()
    await client.open(site)
    for _ in range(chance.choice((0, 0, 1, 2))):
        other = chance.choice(people)
        if not await client.ask(other, other.any_request(chance)):
            await client.open(site)
    await client.ask_and_leave(person, person.any_request(chance), chance)


async def leave_socket(person, chance):
    with suppress(WebSocketException):  # so many sockets of one person are not let in
        async with connect_page(person) as opened:
            reading = asyncio.create_task(read_frames(opened, person))
            for frame in person.frames():
                await opened.send(frame)
                if chance.random() < 0.3:
                    break
            await asyncio.wait((reading,), timeout=chance.uniform(0, 4 * LONGEST_WAIT_SECONDS))
            opened.transport.abort()
            await reading


def connect_page(person):
    address = person.address.replace("http", "ws", 1) + "/ws/"
    return connect(address, additional_headers=person.socket_headers(), max_size=None, proxy=None, close_timeout=1)


async def read_frames(opened, person):
    with suppress(WebSocketException):
        async for frame in opened:
            person.check(frame, "a frame")


async def cancel_many(site, people, chance):
    seeds = [chance.getrandbits(64) for _ in range(CUT_CONNECTIONS)]

    async def cancel_in_turn():
        while seeds:
            await cancel_one(site, people, Random(seeds.pop()))

    await asyncio.gather(*(cancel_in_turn() for _ in range(AT_ONCE)))


def test_connections_that_are_cut_leave_nothing_to_others(site, people, chance):
    asyncio.run(asyncio.wait_for(cancel_many(site, people, chance), PATIENCE_SECONDS))
    check_that_nothing_is_held(site, people)


def check_that_nothing_is_held(site, people):
    """No transaction is open, and all connections of the pool, turns of people and places for sockets are free."""
    site.wait_until_quiet()
    now = site.database.value("SELECT clock_timestamp()")
    wait_for(lambda: not site.database.rows(STAYED_IN_TRANSACTION, now), "no transaction is left open")
    with ThreadPoolExecutor(POOL_SIZE) as pool:
        with psycopg.connect(dbname=site.database.name, **site.database.address) as locking:
            locking.execute("LOCK TABLE conversations_conversation IN ACCESS EXCLUSIVE MODE")
            asking = [pool.submit(ask_for_page, person) for person in people * REQUESTS_PER_USER]
            wait_for(lambda: site.database.value(WAITING, POOL_SIZE), "all connections of the pool are in use at once")
        assert {each.result() for each in asking} == {200}
    for person in people:
        asyncio.run(open_all_sockets(person))


def ask_for_page(person):
    connection = http.client.HTTPConnection(person.address.removeprefix("http://"), timeout=PATIENCE_SECONDS)
    request = person.page(f"/c/{person.conversation}/")
    connection.request(request.method, request.path, headers=request.headers)
    response = connection.getresponse()
    person.check_whole(response.status, response.read(), request)
    return response.status


async def open_all_sockets(person):
    """Open as many as a person may have, once the server has noticed the end of those that were left."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    async with AsyncExitStack() as opened:
        while time.monotonic() < deadline:
            with suppress(WebSocketException):
                for _ in range(SOCKETS_PER_USER):
                    await opened.enter_async_context(connect_page(person))
                return
            await opened.aclose()
    raise AssertionError("places for sockets were not given back")


# In a process without connections


def test_requests_that_end_at_an_exact_await_point_leave_nothing_to_others(site, people, chance):
    arguments = [str(chance.getrandbits(32)), str(CUT_AT_AWAIT_POINTS)]
    with site.log.open("ab") as log:
        outcome = subprocess.run(
            [sys.executable, "-m", "tests.faults.cancelled_requests", *arguments],
            cwd=PROJECT,
            env=os.environ | site.settings,
            input=json.dumps([asdict(person) for person in people]).encode(),
            stdout=subprocess.PIPE,
            stderr=log,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
    assert outcome.returncode == 0, site.log.read_text()[-5_000:]
    report = json.loads(outcome.stdout.splitlines()[-1])
    assert (report["connections_lost"], report["cut"] >= CUT_AT_AWAIT_POINTS) == (0, True)
    assert sum(report["statuses"].values()) > 10
    check_that_nothing_is_held(site, people)
