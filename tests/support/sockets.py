"""A page's socket for tests: the real application behind it, with the cookies of a signed-in user."""

from __future__ import annotations

import json
from typing import Any

from asgiref.testing import ApplicationCommunicator
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY

from chatsite.accounts.models import User
from chatsite.accounts.sessions.session_store import SessionStore
from chatsite.asgi import application
from tests.support.patience import PATIENCE_SECONDS
from tests.support.waiting import in_thread


class Communicator(WebsocketCommunicator):
    """Channels' own keeps every thread's database connection open, for the sake of tests inside a transaction.

    And it has patience for a second, which is too little on a busy machine: all that it waits for comes through here.
    """

    send_input = ApplicationCommunicator.send_input

    async def receive_output(self, _too_soon: float = 0) -> dict[str, Any]:
        return await ApplicationCommunicator.receive_output(self, PATIENCE_SECONDS)

    async def wait(self, _too_soon: float = 0) -> None:
        await ApplicationCommunicator.wait(self, PATIENCE_SECONDS)


def sign_in(user: User) -> str:
    """Return the key of a new session of *user*."""
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    return str(session.session_key)


def handshake(session_key: str | None, origin: str | None, languages: str | None = None) -> Communicator:
    headers = []
    if origin is not None:
        headers.append((b"origin", origin.encode()))
    if session_key is not None:
        headers.append((b"cookie", f"{settings.SESSION_COOKIE_NAME}={session_key}".encode()))
    if languages is not None:
        headers.append((b"accept-language", languages.encode()))
    return Communicator(application, "/ws/", headers=headers)


class Page:
    """An open socket. Frames that were not waited for are kept in `frames`."""

    def __init__(self, communicator: Communicator) -> None:
        self.communicator = communicator
        self.frames: list[dict[str, Any]] = []

    @classmethod
    async def open(cls, user: User, languages: str | None = None) -> Page:
        """Open a page of *user*, whose browser prefers *languages*, a header such as "zh-CN,en;q=0.8"."""
        communicator = handshake(await in_thread(sign_in, user), settings.SITE_URL, languages)
        accepted, _ = await communicator.connect()
        assert accepted
        return cls(communicator)

    async def send(self, type: str, **fields: Any) -> None:  # noqa: A002
        await self.communicator.send_to(text_data=json.dumps({"type": type, **fields}, default=str))

    async def receive(self, *types: str) -> dict[str, Any]:
        """Return the next frame of one of *types*, keeping those before it."""
        while True:
            frame = json.loads(await self.communicator.receive_from())
            self.frames.append(frame)
            if frame["type"] in types:
                return frame

    async def close_code(self) -> int:
        """Wait until the server closes the socket and return the code it gives."""
        while True:
            output = await self.communicator.receive_output()
            if output["type"] == "websocket.close":
                return int(output["code"])
