"""A person's browser without a screen: plain HTTP with cookies."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.parse
import urllib.request
import uuid
from functools import partial
from http.cookiejar import CookieJar
from typing import Any

from tests.support.patience import PATIENCE_SECONDS

PASSWORD = "correct-horse-battery"
BOUNDARY = "boundary-of-an-upload"
FILE_PART = (
    f"--{BOUNDARY}\r\n"
    'Content-Disposition: form-data; name="files"; filename="{name}"\r\n'
    "Content-Type: application/octet-stream\r\n\r\n"
)


class RequestsFrom(urllib.request.HTTPHandler):
    """Connects from the *address*."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self._connection = partial(http.client.HTTPConnection, source_address=(address, 0))

    def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._connection, request)  # type: ignore[arg-type]  # a class or what makes an object of it


class Browser:
    """A visitor's cookies, and requests with them to the site at *address*."""

    def __init__(self, address: str, *, cookies: Browser | None = None, comes_from: str = "127.0.0.1") -> None:
        """*cookies* is the browser to share them with, at another process of the site: they do not know of ports.

        *comes_from* is the address of this machine that its requests come from.
        """
        self.address = address
        self.person = cookies.person if cookies else ""  # their email address
        self._cookies = cookies._cookies if cookies else CookieJar()
        self._opener = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor(self._cookies), RequestsFrom(comes_from)
        )

    def sign_up(self, email: str) -> None:
        self.person = email
        self.request("/accounts/signup/")
        status, _ = self.request("/accounts/signup/", email=email, password1=PASSWORD, password2=PASSWORD)
        assert self.cookie("sessionid"), f"signing up gave {status}"

    def sign_in(self, email: str) -> None:
        self.request("/accounts/login/")
        status, _ = self.request("/accounts/login/", login=email, password=PASSWORD)
        assert self.cookie("sessionid"), f"signing in gave {status}"

    def sign_out(self) -> None:
        self.request("/accounts/logout/", really="yes")

    @property
    def cookies(self) -> dict[str, str]:
        return {cookie.name: cookie.value or "" for cookie in self._cookies}

    def cookie(self, name: str) -> str:
        """Return the value of a cookie, which over https has a longer name; empty without it."""
        return self.cookies.get(name) or self.cookies.get(f"__Host-{name}", "")

    @property
    def cookie_header(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())

    def socket_options(self) -> dict[str, Any]:
        """Return what else a WebSocket to the site is opened with."""
        return {}

    def request(self, path: str, *, accept: str = "text/html", **form: str) -> tuple[int, str]:
        """GET *path*, or POST *form* to it; return status and body, also of a refusal."""
        return self.send(path, urllib.parse.urlencode(form) if form else None, accept=accept)

    def send(self, path: str, body: str | None, *, accept: str = "text/html") -> tuple[int, str]:
        """POST *body* as it is, an encoded form or what looks like one."""
        status, answer = self._open(path, body and body.encode(), {"Accept": accept})
        return status, answer.decode()

    def upload(self, path: str, name: str, content: bytes) -> tuple[int, dict[str, Any]]:
        """POST a file, as a form that is sent by a script does."""
        kind = f"multipart/form-data; boundary={BOUNDARY}"
        body = FILE_PART.format(name=name).encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode()
        status, answer = self._open(path, body, {"Accept": "application/json", "Content-Type": kind})
        return status, json.loads(answer)

    def download(self, path: str, **form: str) -> tuple[int, bytes]:
        """GET *path*, or POST *form* to it, and return what comes as it is."""
        return self._open(path, urllib.parse.urlencode(form).encode() if form else None, {})

    def _open(self, path: str, body: bytes | None, headers: dict[str, str]) -> tuple[int, bytes]:
        headers = {"X-CSRFToken": self.cookie("csrftoken"), **headers}
        request = urllib.request.Request(self.address + path, data=body, headers=headers)
        try:
            with self._opener.open(request, timeout=PATIENCE_SECONDS) as response:
                return response.status, response.read()
        except urllib.error.HTTPError as refusal:
            return refusal.code, refusal.read()

    def json(self, path: str, **form: str) -> tuple[int, dict[str, Any]]:
        status, body = self.request(path, accept="application/json", **form)
        return status, json.loads(body)

    def post(self, conversation: str, content: str, client_id: str | None = None) -> tuple[int, dict[str, Any]]:
        client_id = client_id or str(uuid.uuid4())
        return self.json(f"/c/{conversation}/messages/post/", content=content, client_id=client_id)

    def sync(self, conversation: str) -> list[dict[str, Any]]:
        """Return the stored messages as a page without a socket polls them."""
        status, snapshot = self.json(f"/c/{conversation}/sync/?from=0")
        assert status == 200, snapshot
        return snapshot["messages"]

    def stop(self, conversation: str, reply: int) -> int:
        return self.json(f"/c/{conversation}/replies/{reply}/stop/", really="yes")[0]
