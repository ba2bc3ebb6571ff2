"""A fake SearXNG on a loopback port: what it answers is set by the test, and it remembers what it was asked.

    with serve_searxng() as searxng:
        searxng.results = [page("https://birds.example/heron", "Herons", "They stand in water.")]
        ...
        assert searxng.queries == ["Where do herons stand?"]

It answers as the documentation says: JSON at /search?format=json, 403 with a page of HTML where that is not enabled.
What *fault* may be:

| fault | what it does |
| --- | --- |
| `status-N` | that HTTP status with a page of HTML |
| `redirect` | status 302 to another host |
| `html` | a page, with status 200 |
| `not-json`, `not-utf8`, `deep` | half an object; bytes that are no UTF-8; 100,000 brackets |
| `list`, `no-results`, `odd-results` | a list; no `results`; `results` that is text |
| `enormous` | an answer that does not end |
| `hang` | nothing, until it is released |
| `hang-headers` | headers and the beginning of an answer, then nothing until it is released |
| `cut` | the connection closes in the middle of the body |
| `silent-engines` | no results, and two search engines that did not answer |
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support.patience import PATIENCE_SECONDS, wait_for

FORBIDDEN = b"<!doctype html><title>403 Forbidden</title><h1>Forbidden</h1>"
BODIES: dict[str, bytes] = {
    "html": b"<!doctype html><title>Verifying your browser</title>",
    "not-json": b'{"results": [',
    "not-utf8": b'{"results": ["\xff\xfe"]}',
    "deep": b"[" * 100_000,
    "list": b"[]",
    "no-results": b'{"query": "q"}',
    "odd-results": b'{"results": "none"}',
    "silent-engines": json.dumps(
        {"results": [], "unresponsive_engines": [["google", "CAPTCHA"], ["bing", "timeout"]]}
    ).encode(),
}


def page(url: Any, title: Any = "", content: Any = "", **fields: Any) -> dict[str, Any]:
    """Return a result as SearXNG sends it."""
    return {"url": url, "title": title, "content": content, "engine": "fake", "score": 1.0, **fields}


@dataclass
class Searxng:
    """The running server: what it answers, and the *requests* that have come, each with its path and headers."""

    address: str = ""
    results: list[Any] = field(default_factory=list)
    fault: str = ""
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    @property
    def queries(self) -> list[str]:
        """What was searched for, oldest first."""
        return [parse_qs(urlsplit(path).query)["q"][0] for path, _ in self.requests]

    def wait_for_requests(self, count: int) -> None:
        wait_for(lambda: len(self.requests) >= count, f"{count} searches have come")

    def reset(self) -> None:
        self.results, self.fault = [], ""
        self.requests.clear()
        self.released.clear()


class Handler(BaseHTTPRequestHandler):
    """Answers one request as the fault says."""

    searxng: Searxng
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        self.searxng.requests.append((self.path, dict(self.headers)))
        wanted = parse_qs(parts.query)
        if not parts.path.endswith("/search") or wanted.get("format") != ["json"]:
            self._answer(404, b"not here", "text/html")
            return
        fault = self.searxng.fault
        if fault.startswith("status-"):
            self._answer(int(fault.removeprefix("status-")), FORBIDDEN, "text/html")
        elif fault == "redirect":
            self._answer(302, b"", "text/html", location="http://elsewhere.example/")
        elif fault in ("enormous", "hang", "hang-headers", "cut"):
            self._break(fault)
        else:
            body = {"query": wanted["q"][0], "results": self.searxng.results, "unresponsive_engines": []}
            self._answer(200, BODIES.get(fault) or json.dumps(body).encode(), "application/json")

    def _answer(self, status: int, body: bytes, kind: str, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"content-type": kind, "content-length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _break(self, fault: str) -> None:
        self.close_connection = True
        if fault != "hang":
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(2**40))
            self.end_headers()
            self.wfile.write(b'{"results": [')
        if fault == "enormous":
            while not self.searxng.released.is_set():
                self.wfile.write(b" " * 2**16)
        elif fault != "cut":
            self.searxng.released.wait(PATIENCE_SECONDS)

    def handle(self) -> None:
        with suppress(ConnectionError):  # who asked has gone away
            super().handle()

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002  # its name in the class above
        pass


@contextmanager
def serve_searxng() -> Iterator[Searxng]:
    """Serve the fake in threads of this process."""
    searxng = Searxng()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Handler,), {"searxng": searxng}))
    server.daemon_threads = True
    searxng.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield searxng
    finally:
        searxng.released.set()
        server.shutdown()
        server.server_close()
        thread.join(timeout=5)
