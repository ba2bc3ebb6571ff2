"""People whose texts all carry a canary, a word that no other person's have, and their requests of every kind.

A response or frame that has the canary of another person has crossed over from their request. This module imports
neither Django nor the rig: also a process that has only the ASGI application sends these requests.
"""

from __future__ import annotations

import json
import re
import uuid
from dataclasses import dataclass
from random import Random
from urllib.parse import urlencode

CANARY = re.compile(r"canary-[0-9a-f]{16}")
FORM = "application/x-www-form-urlencoded"


class CrossTalk(AssertionError):
    """A person was answered with what belongs to another."""


@dataclass(frozen=True)
class Request:
    """One HTTP request; *is_told* is whether the canary must be in a whole response of 200."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes = b""
    is_told: bool = True

    def to_bytes(self, host: str) -> bytes:
        headers = {"Host": host, "Content-Length": str(len(self.body)), **self.headers}
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        return f"{self.method} {self.path} HTTP/1.1\r\n{head}\r\n".encode() + self.body


@dataclass(frozen=True)
class Person:
    """Who asks: *cookies* and *csrf* are their browser's, *key* is for `/v1`, *conversation* carries the canary."""

    canary: str
    address: str  # of the site
    cookies: str
    csrf: str
    key: str
    conversation: str

    def check(self, answer: bytes | str, what: object) -> None:
        """Raise `CrossTalk` if *answer*, or the part of it that came, has a canary that is not this person's."""
        text = answer if isinstance(answer, str) else answer.decode(errors="replace")
        if foreign := set(CANARY.findall(text)) - {self.canary}:
            raise CrossTalk(f"{self.canary} was told of {foreign} by {what}")

    def check_whole(self, status: int, body: bytes, request: Request) -> None:
        """Raise unless a whole answer is this person's and no failure of the site."""
        self.check(body, request)
        assert status < 500, (status, request, body)
        assert not (status == 200 and request.is_told) or self.canary.encode() in body, (request, body)

    def page(self, path: str, *, accept: str = "text/html", is_told: bool = True) -> Request:
        return Request("GET", path, self._own_headers(accept), is_told=is_told)

    def action(self, path: str, *, is_told: bool = False, **form: str) -> Request:
        headers = self._own_headers("application/json") | {"Content-Type": FORM}
        return Request("POST", path, headers, urlencode(form).encode(), is_told=is_told)

    def completion(self, *, stream: bool) -> Request:
        body = {"model": "echo", "stream": stream, "messages": [{"role": "user", "content": self.words()}]}
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        return Request("POST", "/v1/chat/completions", headers, json.dumps(body).encode())

    def words(self) -> str:
        """Return a message that has the canary at both ends, and is no other message."""
        return f"{self.canary} {uuid.uuid4().hex} " + "and so on " * 20 + self.canary

    def any_request(self, chance: Random) -> Request:
        """Return one of this person's requests: a page, JSON, an action, a file or one of `/v1`."""
        here = f"/c/{self.conversation}/"
        posted = {"content": self.words(), "client_id": str(uuid.uuid4())}
        return chance.choice(
            (
                self.page("/"),
                self.page(here),
                self.page("/conversations/"),
                self.page(f"/search/?q={self.canary}"),
                self.page("/usage/", is_told=False),
                self.page(f"{here}export/?kind=markdown"),
                self.page(f"{here}sync/?from=0", accept="application/json"),
                self.action("/estimate/", conversation=self.conversation, content=self.words()),
                self.action(f"{here}rename/", title=f"A title of {self.canary}"),
                self.action(f"{here}messages/post/", **posted),
                Request("GET", "/v1/models", {"Authorization": f"Bearer {self.key}"}, is_told=False),
                self.completion(stream=True),
                self.completion(stream=False),
            )
        )

    def socket_headers(self) -> dict[str, str]:
        return {"Origin": self.address, "Cookie": self.cookies}

    def frames(self) -> list[str]:
        """Return what a page sends over its socket: it asks for what is stored, and posts a message."""
        about = {"conversation": self.conversation}
        posted = {"content": self.words(), "client_id": str(uuid.uuid4())}
        sync = {"type": "conversation.sync", **about, "from_position": 0}
        return [json.dumps(each) for each in (sync, {"type": "message.post", **about, **posted}, sync)]

    def _own_headers(self, accept: str) -> dict[str, str]:
        own = {"Cookie": self.cookies, "X-CSRFToken": self.csrf, "Origin": self.address}
        return own | {"Accept": accept}
