"""Plain requests of one user: so many at once, the others in their order, and far too many are refused in words."""

from __future__ import annotations

import asyncio
import json

import pytest
from django.conf import settings

from conversations.live import user_turns
from conversations.views.http import user_share
from conversations.views.http.user_share import STREAMED, UserShare


def scope_of(user, **headers):
    """Return a request whose session has its user's name for a key."""
    if user:
        headers["cookie"] = f"{settings.SESSION_COOKIE_NAME}={user}"
    named = [(name.encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http", "method": "GET", "path": "/", "headers": named}


class Requests:
    """Requests through the share to an application that answers when it is told to."""

    def __init__(self, monkeypatch, *, streamed=False):
        self.inside, self.answers, self.way_out, self.streamed = [], [], asyncio.Event(), streamed
        monkeypatch.setattr(user_share, "session_user", self._user)
        self.share = UserShare(self._application)
        self.bodies: asyncio.Queue = asyncio.Queue()
        self.read = []

    async def receive(self):
        """Return the next piece of a body, whichever request asks; none comes unless the test has put it."""
        return await self.bodies.get()

    async def _user(self, key):
        return key

    async def _application(self, scope, receive, send):
        self.inside.append(user_share.read_session_key(scope))
        if user_share.declared_bytes(scope):
            self.read.append(await receive())
        if self.streamed:
            scope[STREAMED] = True
        await send({"type": "http.response.start", "status": 200})
        await self.way_out.wait()

    async def come(self, *scopes):
        async def send(message):
            self.answers.append(message)

        tasks = [asyncio.create_task(self.share(scope, self.receive, send)) for scope in scopes]
        for _ in range(20):
            await asyncio.sleep(0)
        return tasks


@pytest.fixture(autouse=True)
def two_at_once(settings):
    settings.REQUESTS_PER_USER = 2


async def test_one_user_waits_and_another_does_not(monkeypatch):
    requests = Requests(monkeypatch)
    tasks = await requests.come(*[scope_of("eve")] * 5, scope_of("alice"), scope_of(None), scope_of(None))
    assert requests.inside == ["eve", "eve", "alice", None, None]
    requests.way_out.set()
    await asyncio.gather(*tasks)
    assert len(requests.inside) == 8


@pytest.mark.parametrize("accept", ["application/json", "text/html"])
async def test_far_too_many_are_refused_in_the_form_that_was_asked_for(monkeypatch, accept):
    monkeypatch.setattr(user_share, "REQUESTS_WAITING", 1)
    monkeypatch.setattr(user_turns, "REFUSAL_SECONDS", 0)
    requests = Requests(monkeypatch)
    tasks = await requests.come(*[scope_of("eve", accept=accept)] * 4)
    start, body = requests.answers[-2:]
    assert start["status"] == 429
    assert dict(start["headers"])[b"retry-after"] == b"2"
    told = body["body"].decode()
    if accept == "application/json":
        assert json.loads(told)["code"] == "too_many_requests_at_once"
        told = json.loads(told)["message"]
    assert told == "You have sent very many requests at once. Wait a moment, then try again."
    requests.way_out.set()
    await asyncio.gather(*tasks)


async def test_a_file_that_is_read_slowly_does_not_keep_pages_waiting(monkeypatch):
    requests = Requests(monkeypatch, streamed=True)
    tasks = await requests.come(*[scope_of("eve")] * 3)
    assert requests.inside == ["eve"] * 3
    requests.way_out.set()
    await asyncio.gather(*tasks)


async def test_a_small_form_whose_body_does_not_come_keeps_nothing_waiting(monkeypatch):
    monkeypatch.setattr(user_share, "SMALL_BODIES_AT_ONCE", 3)
    requests = Requests(monkeypatch)
    small = scope_of("eve", **{"content-length": "9"})
    forms = await requests.come(*[small] * 3)
    pages = await requests.come(scope_of("eve"))
    assert requests.inside == ["eve"]
    pieces = [{"type": "http.request", "body": b"first", "more_body": True}, {"type": "http.request", "body": b"last"}]
    for piece in pieces:
        requests.bodies.put_nowait(piece)
    other = await requests.come(*[small] * 2)  # one more is read ahead, the other in its turn
    requests.way_out.set()
    for _ in range(5):
        requests.bodies.put_nowait({"type": "http.request", "body": b"whole"})
    await asyncio.gather(*forms, *pages, *other)
    assert len(requests.inside) == 6
    assert pieces[0] in requests.read
    assert not requests.share._bodies


@pytest.mark.parametrize("headers", [{"content-length": "64001"}, {"transfer-encoding": "chunked"}])
async def test_a_large_body_is_read_in_its_turn(monkeypatch, headers):
    requests = Requests(monkeypatch)
    tasks = await requests.come(*[scope_of("eve", **headers)] * 2)
    assert requests.inside == ["eve", "eve"]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_a_visitor_who_leaves_while_a_small_body_is_read_is_let_through(monkeypatch):
    """Django says what becomes of it."""
    requests = Requests(monkeypatch)
    requests.way_out.set()
    requests.bodies.put_nowait({"type": "http.disconnect"})
    await asyncio.gather(*await requests.come(scope_of("eve", **{"content-length": "9"})))
    assert requests.read == [{"type": "http.disconnect"}]
    assert not requests.share._bodies
