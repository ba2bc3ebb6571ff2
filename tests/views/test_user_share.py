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

    async def _user(self, key):
        return key

    async def _application(self, scope, receive, send):
        self.inside.append(user_share.read_session_key(scope))
        if self.streamed:
            scope[STREAMED] = True
        await send({"type": "http.response.start", "status": 200})
        await self.way_out.wait()

    async def come(self, *scopes):
        async def send(message):
            self.answers.append(message)

        tasks = [asyncio.create_task(self.share(scope, None, send)) for scope in scopes]
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
