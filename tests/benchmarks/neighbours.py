"""What one user's worst does to another: the median and the errors of the neighbour's requests beside an idle median.

The neighbour asks for a page and sends a message through the form, in turn, without a pause. Meanwhile one other user
does one of these as often and as much at once as they can:

    estimates        drafts of a megabyte of emoji          previews   the same, as windows
    syncs_http       snapshots over HTTP                    syncs      snapshots over 20 sockets
    posts            250 kB messages over 20 sockets        sockets    100 sockets, opened and closed
    exports          files of the whole account             searches   the list of conversations, searched
    uploads          refused files of 5 x 10 MB             half       requests whose headers and bodies stop

    python -m tests.benchmarks.neighbours [--seconds N] [--only NAME ...] [--json FILE]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import tempfile
import time
import urllib.parse
import uuid
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from websockets.asyncio.client import connect

from tests.benchmarks._site import temporary_site
from tests.support.ports import free_port

AT_ONCE = 20
TOKEN = "a" * 32
EMOJI = "\N{PARTY POPPER}" * 250_000  # a megabyte
BOUNDARY = "boundary"
FILE = (
    f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="files"; filename="f.bin"\r\n'
    "Content-Type: application/octet-stream\r\n\r\n"
).encode() + bytes(10_000_000)


class Visitor:
    """A user of the site at *port*, signed in by a cookie, who talks HTTP over connections of one request each."""

    def __init__(self, port: int, cookie: str, conversation: str) -> None:
        self.port, self.conversation = port, conversation
        self.address = f"http://127.0.0.1:{port}"
        self.cookies = f"sessionid={cookie}; csrftoken={TOKEN}"

    async def request(self, path: str, body: bytes | None = None, kind: str = "") -> int:
        """GET *path*, or POST *body* to it, read the whole answer and return its status."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            method = "GET" if body is None else "POST"
            kind = kind or "application/x-www-form-urlencoded"
            head = (
                f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nCookie: {self.cookies}\r\n"
                f"X-CSRFToken: {TOKEN}\r\nOrigin: {self.address}\r\nConnection: close\r\nAccept: application/json\r\n"
            )
            head += f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n" if body is not None else "\r\n"
            writer.write(head.encode() + (body or b""))
            answer = await reader.read()
            return int(answer.split(b" ", 2)[1]) if answer else 0
        finally:
            writer.close()

    async def form(self, path: str, **fields: str) -> int:
        return await self.request(path, urllib.parse.urlencode(fields).encode())

    @property
    def socket(self) -> Any:
        return connect(
            f"ws://127.0.0.1:{self.port}/ws/", origin=self.address, additional_headers={"Cookie": self.cookies}
        )


Attack = Callable[[Visitor], Awaitable[object]]


def sync_frame(visitor: Visitor) -> dict[str, Any]:
    return {"type": "conversation.sync", "conversation": visitor.conversation, "from_position": 0}


async def talk(visitor: Visitor, **frame: Any) -> None:
    """Send the same frame over a socket and read what comes, on and on."""
    async with visitor.socket as socket:
        while True:
            if "client_id" in frame:
                frame["client_id"] = str(uuid.uuid4())
            await socket.send(json.dumps(frame))
            await socket.recv()


async def post_long(visitor: Visitor) -> None:
    content = EMOJI[:60_000]
    await talk(visitor, type="message.post", conversation=visitor.conversation, client_id="", content=content)


async def open_and_close(visitor: Visitor) -> None:
    async with visitor.socket as socket:
        await socket.send(json.dumps(sync_frame(visitor)))
        await socket.recv()


async def upload(visitor: Visitor) -> None:
    body = b"\r\n".join([FILE] * 5) + f"\r\n--{BOUNDARY}--\r\n".encode()
    path = f"/c/{visitor.conversation}/documents/add/"
    await visitor.request(path, body, f"multipart/form-data; boundary={BOUNDARY}")


async def send_half(visitor: Visitor) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", visitor.port)
    head = f"POST /estimate/ HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {visitor.cookies}\r\nContent-Length: 99\r\n"
    try:
        writer.write(head.encode())
        await asyncio.sleep(0.5)
        writer.write(b"\r\nhalf")
        await asyncio.sleep(60)
    finally:
        writer.close()


ATTACKS: dict[str, tuple[Attack, int]] = {
    "estimates": (lambda visitor: visitor.form("/estimate/", content=EMOJI), AT_ONCE),
    "previews": (lambda visitor: visitor.form("/preview/", content=EMOJI), AT_ONCE),
    "syncs_http": (lambda visitor: visitor.request(f"/c/{visitor.conversation}/sync/?from_position=0"), AT_ONCE),
    "syncs": (lambda visitor: talk(visitor, **sync_frame(visitor)), AT_ONCE),
    "posts": (post_long, AT_ONCE),
    "sockets": (open_and_close, 100),
    "exports": (lambda visitor: visitor.request("/account/export/", b""), AT_ONCE),
    "searches": (lambda visitor: visitor.request("/conversations/?q=a"), AT_ONCE),
    "uploads": (upload, 4),
    "half": (send_half, 100),
}


async def repeat(attack: Attack, visitor: Visitor) -> None:
    while True:
        with suppress(Exception):  # what the attacker is told is not measured
            await attack(visitor)
        await asyncio.sleep(0)


async def ask(neighbour: Visitor, seconds: float) -> dict[str, Any]:
    """Return how long the neighbour's requests took in these *seconds*, and how many failed."""
    took: dict[str, list[float]] = {"page": [], "send": []}
    errors, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        for name in took:
            began = time.monotonic()
            if name == "page":
                status = await neighbour.request("/conversations/")
            else:
                fields = {"content": "Hello", "client_id": str(uuid.uuid4())}
                status = await neighbour.form(f"/c/{uuid.uuid4()}/messages/post/", **fields)
            took[name].append(time.monotonic() - began)
            errors += status >= 400 or status == 0
    return {
        "n": len(took["page"]),
        "errors": errors,
        **{f"{name}_ms": statistics.median(times) * 1000 for name, times in took.items()},
        "worst_ms": max(max(times) for times in took.values()) * 1000,
    }


async def measure(attacker: Visitor, neighbour: Visitor, names: list[str], seconds: float) -> list[dict[str, Any]]:
    await ask(neighbour, 2)  # to warm up
    rows = []
    for name in names:
        idle = await ask(neighbour, seconds)
        attack, at_once = ATTACKS[name]
        attacking = [asyncio.create_task(repeat(attack, attacker)) for _ in range(at_once)]
        await asyncio.sleep(1)
        busy = await ask(neighbour, seconds)
        for task in attacking:
            task.cancel()
        await asyncio.gather(*attacking, return_exceptions=True)
        await asyncio.sleep(1)
        ratios = {f"{each}_ratio": busy[f"{each}_ms"] / idle[f"{each}_ms"] for each in ("page", "send")}
        rows.append({"attack": name, **busy, **ratios})
        show(rows[-1])
    return rows


def show(row: dict[str, Any]) -> None:
    print(
        f"{row['attack']:<12}{row['n']:>6}{row['page_ms']:>9.0f}{row['page_ratio']:>8.1f}{row['send_ms']:>9.0f}"
        f"{row['send_ratio']:>8.1f}{row['worst_ms']:>10.0f}{row['errors']:>8}",
        flush=True,
    )


@contextmanager
def two_visitors() -> Iterator[tuple[Visitor, Visitor]]:
    """A site with an attacker and a neighbour, served by a process of its own."""
    limits = {"MESSAGES_PER_MINUTE": "0", "REPLIES_PER_USER": "0", "DOCUMENT_STORAGE_MEGABYTES": "1"}
    with temporary_site(SECRET_KEY="a-secret-of-the-benchmark-that-is-long", **limits):
        from django.db import connections

        from tests.benchmarks._people import make_people
        from tests.faults.processes import SiteProcess

        people = make_people(2)
        connections.close_all()
        port = free_port()
        log = Path(tempfile.mkdtemp()) / "site.log"
        process = SiteProcess("serve", dict(os.environ) | {"PORT": str(port)}, log)
        try:
            attacker, neighbour = (Visitor(port, each.cookie, str(each.conversation)) for each in people)
            yield attacker, neighbour
        finally:
            process.end()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--only", nargs="*", choices=ATTACKS, default=list(ATTACKS))
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    print(f"{'':<12}{'n':>6}{'page ms':>9}{'ratio':>8}{'send ms':>9}{'ratio':>8}{'worst ms':>10}{'errors':>8}")
    with two_visitors() as (attacker, neighbour):
        rows = asyncio.run(measure(attacker, neighbour, arguments.only, arguments.seconds))
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
