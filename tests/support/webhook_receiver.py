"""A receiver of webhooks on a loopback port: what it answers is set by the test, and it keeps what it was sent.

    with serve_receiver() as receiver:
        receiver.fault = "status-500"
        ...
        [sent] = receiver.received

What *fault* may be:

| fault | what it does |
| --- | --- |
| `status-N` | that HTTP status |
| `redirect` | status 302 to *elsewhere* |
| `hang` | nothing, until it is released |
| `hang-body` | status 200 and the beginning of a body, then nothing until it is released |
| `enormous` | status 200 and a body that does not end |
| `enormous-head` | headers that do not end |
| `compressed` | status 200 and a body that says it is compressed |
| `drip` | one byte of a head at a time, until it is released |
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.patience import PATIENCE_SECONDS

SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="  # of the tests


@dataclass(frozen=True)
class Received:
    """One request, as it came."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """The running receiver: what it answers, and what has come, oldest first."""

    url: str = ""
    fault: str = ""
    elsewhere: str = "http://127.0.0.1:9/"
    received: list[Received] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)
    at_once: int = 0
    most_at_once: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def ids(self) -> list[str]:
        return [each.headers["webhook-id"] for each in self.received]


class Handler(BaseHTTPRequestHandler):
    """Answers one request as the fault says."""

    receiver: Receiver
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:  # a redirect that was followed
        self.do_POST()

    def do_POST(self) -> None:
        receiver = self.receiver
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        with receiver.lock:
            fault = receiver.fault
            receiver.at_once += 1
            receiver.most_at_once = max(receiver.most_at_once, receiver.at_once)
            receiver.received.append(Received(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
        try:
            self._answer(fault)
        finally:
            with receiver.lock:
                receiver.at_once -= 1

    def _answer(self, fault: str) -> None:
        if fault.startswith("status-"):
            self._head(int(fault.removeprefix("status-")))
        elif fault == "redirect":
            self._head(302, location=self.receiver.elsewhere)
        elif fault == "compressed":
            self._head(200, content_encoding="gzip")
        elif fault:
            self.close_connection = True
            self._break(fault)
        else:
            self._head(204)

    def _head(self, status: int, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"content_length": "0", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def _break(self, fault: str) -> None:
        released = self.receiver.released
        if fault in ("hang-body", "enormous"):
            self._head(200, content_length=str(2**40))
            self.wfile.write(b"begun")
        if fault == "enormous":
            while not released.is_set():
                self.wfile.write(b" " * 2**16)
        elif fault == "enormous-head":
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
            while not released.is_set():
                self.wfile.write(b"x-more: " + b"a" * 2**10 + b"\r\n")
        elif fault == "drip":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nx-more: ")
            while not released.wait(0.05):
                self.wfile.write(b"a")
        else:
            released.wait(PATIENCE_SECONDS)

    def handle(self) -> None:
        with suppress(ConnectionError):  # the sender has gone away
            super().handle()

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002  # its name in the class above
        pass


@contextmanager
def serve_receiver() -> Iterator[Receiver]:
    """Serve it in threads of this process."""
    receiver = Receiver()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Handler,), {"receiver": receiver}))
    server.daemon_threads = True
    receiver.url = f"http://127.0.0.1:{server.server_address[1]}/hook"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.released.set()
        server.shutdown()
        server.server_close()
        thread.join(timeout=5)
