"""Handshakes of one user: one after the other, and far too many are refused."""

from __future__ import annotations

import asyncio

import pytest
from django.conf import settings

from conversations.sockets import handshake_turns
from conversations.sockets.handshake_turns import RESPONSE, HandshakeTurns


class Handshakes:
    """Handshakes through the turns to an application that accepts when it is told to, and stays open after that."""

    def __init__(self, monkeypatch):
        self.begun, self.answers, self.way_out = [], [], asyncio.Event()
        monkeypatch.setattr(handshake_turns, "session_user", self._user)
        monkeypatch.setattr(handshake_turns, "REFUSAL_SECONDS", 0)
        self.turns = HandshakeTurns(self._application)

    async def _user(self, session_key):
        return session_key

    async def _application(self, scope, receive, send):
        self.begun.append(scope["session_key"])
        await self.way_out.wait()
        await send({"type": "websocket.accept"})
        await asyncio.Event().wait()

    async def come(self, *users, extensions=()):
        async def send(message):
            self.answers.append(message)

        extended = {key: {} for key in extensions}
        scopes = [{"type": "websocket", "headers": headers_of(user), "extensions": extended} for user in users]
        tasks = [asyncio.create_task(self.turns(scope, None, send)) for scope in scopes]
        await settle()
        return tasks


def headers_of(user):
    return [(b"cookie", f"{settings.SESSION_COOKIE_NAME}={user}".encode())] if user else []


async def settle():
    for _ in range(20):
        await asyncio.sleep(0)


async def end(tasks):
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_one_user_waits_and_others_do_not(monkeypatch):
    handshakes = Handshakes(monkeypatch)
    tasks = await handshakes.come("eve", "eve", "eve", "bob", None, None)
    assert handshakes.begun == ["eve", "bob", None, None]
    await end(tasks)


async def test_an_open_socket_holds_no_turn(monkeypatch):
    handshakes = Handshakes(monkeypatch)
    handshakes.way_out.set()
    tasks = await handshakes.come("eve", "eve", "eve")
    assert handshakes.answers == [{"type": "websocket.accept"}] * 3
    assert not any(task.done() for task in tasks)
    await end(tasks)


@pytest.mark.parametrize("extensions", [(), (RESPONSE,)])
async def test_far_too_many_are_refused(monkeypatch, settings, extensions):
    settings.SOCKETS_PER_USER = 1
    handshakes = Handshakes(monkeypatch)
    tasks = await handshakes.come("eve", "eve", "eve", extensions=extensions)
    first = handshakes.answers[0]
    if extensions:
        assert (first["type"], first["status"]) == (f"{RESPONSE}.start", 429)
        assert int(dict(first["headers"])[b"retry-after"]) > 0
    else:
        assert first == {"type": "websocket.close"}
    await end(tasks)
