"""What one user's worst does to another: the median and the errors of the neighbour's requests beside an idle median.

The neighbour asks for a page and sends a message through the form, in turn, without a pause. Meanwhile one other user
does one of these as often and as much at once as they can:

    estimates        drafts of a megabyte of emoji          previews   the same, as windows
    syncs_http       snapshots over HTTP                    syncs      snapshots over 20 sockets
    posts            250 kB messages over 20 sockets        sockets    100 sockets, opened and closed
    exports          files of the whole account             searches   the list of conversations, searched
    uploads          refused files of 5 x 10 MB             half       requests whose headers and bodies stop
    streams          40 completions of `/v1`, each of 20,000 tokens that come as fast as they are read

What the attacker is answered is counted by status, or by the type of the frame; "cut" is a connection that ended.

    python -m tests.benchmarks.neighbours [--seconds N] [--only NAME ...] [--json FILE]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from tests.benchmarks._processes import started
from tests.benchmarks._site import temporary_site
from tests.support.ports import free_port

AT_ONCE = 20
STARTING_SECONDS = 1.5  # until the attack has begun
TOKEN = "a" * 32
EMOJI = "\N{PARTY POPPER}" * 250_000  # a megabyte
BOUNDARY = "boundary"
FILE = (
    f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="files"; filename="f.bin"\r\n'
    "Content-Type: application/octet-stream\r\n\r\n"
).encode() + bytes(10_000_000)


class Visitor:
    """A user of the site at *port*, signed in by a cookie, who talks HTTP over connections of one request each."""

    def __init__(self, port: int, cookie: str, conversation: str, key: str = "") -> None:
        self.port, self.conversation, self.key = port, conversation, key
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

    async def complete(self, language_model: str) -> int:
        """Ask for a streamed completion with the key, read it to its end and return its status."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        asked = {"model": language_model, "stream": True, "messages": [{"role": "user", "content": "Hello"}]}
        body = json.dumps(asked).encode()
        head = (
            f"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nAuthorization: Bearer {self.key}\r\n"
            f"Content-Type: application/json\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        try:
            writer.write(head.encode() + body)
            status = await reader.readline()
            while await reader.read(2**20):
                pass
            return int(status.split(b" ", 2)[1]) if status else 0
        finally:
            writer.close()

    async def form(self, path: str, **fields: str) -> int:
        return await self.request(path, urllib.parse.urlencode(fields).encode())

    @property
    def socket(self) -> Any:
        return connect(
            f"ws://127.0.0.1:{self.port}/ws/", origin=self.address, additional_headers={"Cookie": self.cookies}
        )


Answers = Counter[str]
Attack = Callable[[Visitor, Answers], Awaitable[object]]


def sync_frame(visitor: Visitor) -> dict[str, Any]:
    return {"type": "conversation.sync", "conversation": visitor.conversation, "from_position": 0}


def asks(path: str, **form: str) -> Attack:
    """Return the attack that asks for *path* again and again, or posts *form* there."""

    async def attack(visitor: Visitor, answers: Answers) -> None:
        address = path.format(conversation=visitor.conversation)
        status = await (visitor.form(address, **form) if form else visitor.request(address))
        answers[str(status or "cut")] += 1

    return attack


async def talk(visitor: Visitor, answers: Answers, **frame: Any) -> None:
    """Send the same frame over a socket and read what comes, on and on."""
    async with visitor.socket as socket:
        while True:
            if "client_id" in frame:
                frame["client_id"] = str(uuid.uuid4())
            await socket.send(json.dumps(frame, ensure_ascii=False))
            count_frame(answers, await socket.recv())


def count_frame(answers: Answers, text: str | bytes) -> None:
    frame = json.loads(text)
    answers[frame.get("code") or frame["type"]] += 1


async def sync(visitor: Visitor, answers: Answers) -> None:
    await talk(visitor, answers, **sync_frame(visitor))


async def post_long(visitor: Visitor, answers: Answers) -> None:
    content = EMOJI[:60_000]
    await talk(visitor, answers, type="message.post", conversation=visitor.conversation, client_id="", content=content)


async def open_and_close(visitor: Visitor, answers: Answers) -> None:
    async with visitor.socket as socket:
        await socket.send(json.dumps(sync_frame(visitor)))
        count_frame(answers, await socket.recv())


async def upload(visitor: Visitor, answers: Answers) -> None:
    body = b"\r\n".join([FILE] * 5) + f"\r\n--{BOUNDARY}--\r\n".encode()
    path = f"/c/{visitor.conversation}/documents/add/"
    status = await visitor.request(path, body, f"multipart/form-data; boundary={BOUNDARY}")
    answers[str(status or "cut")] += 1


async def send_half(visitor: Visitor, answers: Answers) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", visitor.port)
    head = f"POST /estimate/ HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {visitor.cookies}\r\nContent-Length: 99\r\n"
    try:
        writer.write(head.encode())
        await asyncio.sleep(0.5)
        writer.write(b"\r\nhalf")
        await asyncio.sleep(60)
    finally:
        writer.close()


async def stream(visitor: Visitor, answers: Answers) -> None:
    answers[str(await visitor.complete("flood-20000") or "cut")] += 1


ATTACKS: dict[str, tuple[Attack, int]] = {
    "estimates": (asks("/estimate/", content=EMOJI), AT_ONCE),
    "previews": (asks("/preview/", content=EMOJI), AT_ONCE),
    "syncs_http": (asks("/c/{conversation}/sync/?from=0"), AT_ONCE),
    "syncs": (sync, AT_ONCE),
    "posts": (post_long, AT_ONCE),
    "sockets": (open_and_close, 100),
    "exports": (asks("/account/export/", really="yes"), AT_ONCE),
    "searches": (asks("/conversations/?q=a"), AT_ONCE),
    "uploads": (upload, 4),
    "half": (send_half, 100),
    "streams": (stream, 40),
}


async def repeat(attack: Attack, visitor: Visitor, answers: Answers) -> None:
    while True:
        try:
            await attack(visitor, answers)
        except InvalidStatus as refusal:
            answers[f"handshake {refusal.response.status_code}"] += 1
        except ConnectionClosed as closed:
            answers[f"closed {closed.rcvd.code if closed.rcvd else 'cut'}"] += 1
        except (OSError, WebSocketException, asyncio.IncompleteReadError):
            answers["cut"] += 1
        await asyncio.sleep(0)


async def attack_until_told(name: str, visitor: Visitor) -> None:
    """Attack until standard input ends, then print what was answered. Runs in a process of its own."""
    attack, at_once = ATTACKS[name]
    answers: Answers = Counter()
    attacking = [asyncio.create_task(repeat(attack, visitor, answers)) for _ in range(at_once)]
    await asyncio.to_thread(sys.stdin.read)
    for task in attacking:
        task.cancel()
    await asyncio.gather(*attacking, return_exceptions=True)
    print(json.dumps(dict(answers.most_common())))


@asynccontextmanager
async def attacked(name: str, attacker: Visitor) -> AsyncIterator[Answers]:
    """Let *attacker* attack meanwhile, as another process: what it takes of a processor is not the site's."""
    command = ["-m", "tests.benchmarks.neighbours", "--only", name, "--as", json.dumps(vars(attacker))]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = await asyncio.create_subprocess_exec(sys.executable, *command, **pipes)
    answers: Answers = Counter()
    await asyncio.sleep(STARTING_SECONDS)
    yield answers
    told, _ = await process.communicate(b"")
    answers.update(json.loads(told))


class Times:
    """How long the neighbour's requests took, and how many failed."""

    def __init__(self) -> None:
        self.took: dict[str, list[float]] = {"page": [], "send": []}
        self.errors = 0

    async def ask(self, neighbour: Visitor, seconds: float) -> None:
        """Let the neighbour ask for a page and send a message, in turn, for so long."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for name, times in self.took.items():
                began = time.monotonic()
                if name == "page":
                    status = await neighbour.request("/conversations/")
                else:
                    fields = {"content": "Hello", "client_id": str(uuid.uuid4())}
                    status = await neighbour.form(f"/c/{uuid.uuid4()}/messages/post/", **fields)
                times.append(time.monotonic() - began)
                self.errors += status >= 400 or status == 0

    def median_ms(self, name: str) -> float:
        return statistics.median(self.took[name]) * 1000


async def measure(attacker: Visitor, neighbour: Visitor, names: list[str], seconds: float) -> list[dict[str, Any]]:
    """Return a row for each attack; the idle times are those before and after it, as a machine has other work."""
    await Times().ask(neighbour, 2)  # to warm up
    return [await measure_one(attacker, neighbour, name, seconds) for name in names]


async def measure_one(attacker: Visitor, neighbour: Visitor, name: str, seconds: float) -> dict[str, Any]:
    idle, busy = Times(), Times()
    await idle.ask(neighbour, seconds / 2)
    async with attacked(name, attacker) as answers:
        await busy.ask(neighbour, seconds)
    await asyncio.sleep(1)
    await idle.ask(neighbour, seconds / 2)
    row: dict[str, Any] = {"attack": name, "n": len(busy.took["page"]), "errors": busy.errors}
    for each in busy.took:
        row |= {f"{each}_ms": busy.median_ms(each), f"{each}_ratio": busy.median_ms(each) / idle.median_ms(each)}
    row |= {"worst_ms": max(map(max, busy.took.values())) * 1000, "answers": dict(answers)}
    show(row)
    return row


def show(row: dict[str, Any]) -> None:
    print(
        f"{row['attack']:<12}{row['n']:>6}{row['page_ms']:>9.0f}{row['page_ratio']:>8.1f}{row['send_ms']:>9.0f}"
        f"{row['send_ratio']:>8.1f}{row['worst_ms']:>10.0f}{row['errors']:>8}  {row['answers']}",
        flush=True,
    )


@contextmanager
def two_visitors() -> Iterator[tuple[Visitor, Visitor]]:
    """A site with an attacker and a neighbour, served by a process of its own."""
    limits = {"MESSAGES_PER_MINUTE": "0", "REPLIES_PER_USER": "0", "DOCUMENT_STORAGE_MEGABYTES": "1"}
    models = {"LANGUAGE_MODELS": "ok context_window=8192, flood-20000 context_window=40000", "OPENAI_API_KEY": "x"}
    with (
        started("-m", "tests.benchmarks._provider", ready="http") as (_, base_url),
        temporary_site(
            SECRET_KEY="a-secret-of-the-benchmark-that-is-long", OPENAI_BASE_URL=base_url, **models, **limits
        ),
    ):
        from django.db import connections

        from chatsite.accounts.models import User
        from conversations.services.api.api_keys import make_key
        from tests.benchmarks._people import make_people
        from tests.faults.processes import SiteProcess

        people = make_people(2)
        keys = [make_key(user, name="a program").text for user in User.objects.order_by("pk")]
        connections.close_all()
        port = free_port()
        log = Path(tempfile.mkdtemp()) / "site.log"
        process = SiteProcess("serve", dict(os.environ) | {"PORT": str(port)}, log)
        try:
            attacker, neighbour = (
                Visitor(port, each.cookie, str(each.conversation), key) for each, key in zip(people, keys, strict=True)
            )
            yield attacker, neighbour
        finally:
            process.end()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--only", nargs="*", choices=ATTACKS, default=list(ATTACKS))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--as", dest="attacker", type=json.loads, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.attacker:
        attacker = Visitor.__new__(Visitor)
        vars(attacker).update(arguments.attacker)
        asyncio.run(attack_until_told(arguments.only[0], attacker))
        return
    print(
        f"{'':<12}{'n':>6}{'page ms':>9}{'ratio':>8}{'send ms':>9}{'ratio':>8}{'worst ms':>10}{'errors':>8}"
        "  answers to the attacker"
    )
    with two_visitors() as (attacker, neighbour):
        rows = asyncio.run(measure(attacker, neighbour, arguments.only, arguments.seconds))
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
