"""Memory of the web process after uploads of 95 MB: how far above its start it stays, and what it takes meanwhile.

Half of the uploads are refused, because the user's storage is full, and half are kept as documents. Each is one request
with five random files of 19 MB. The start is what the process takes after some pages and a small upload of each kind.

    python -m tests.benchmarks.upload_memory [--uploads 40]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import time
import uuid
from collections import Counter
from pathlib import Path

from tests.benchmarks._site import temporary_site
from tests.benchmarks.neighbours import BOUNDARY, Visitor
from tests.support.ports import free_port

FILE_BYTES, FILES = 19_000_000, 5
PART = (
    "--{boundary}\r\nContent-Disposition: form-data; name=\"files\"; filename=\"{name}.txt\"\r\n"
    "Content-Type: application/octet-stream\r\n\r\n"
)  # fmt: skip
GOAL_MB = 50
CALM_SECONDS = 2


async def upload(visitor: Visitor, file_bytes: int = FILE_BYTES, files: int = FILES) -> int:
    """Send *files* random files in one request to a new conversation; return the status."""
    parts = [PART.format(boundary=BOUNDARY, name=uuid.uuid4()).encode() + os.urandom(file_bytes) for _ in range(files)]
    body = b"\r\n".join(parts) + f"\r\n--{BOUNDARY}--\r\n".encode()
    path = f"/c/{uuid.uuid4()}/documents/add/"
    return await visitor.request(path, body, f"multipart/form-data; boundary={BOUNDARY}")


async def measure(refused: Visitor, kept: Visitor, process, uploads: int) -> None:  # type: ignore[no-untyped-def]
    for visitor in (refused, kept):
        for _ in range(10):
            await visitor.request("/conversations/")
        await upload(visitor, 1000, 1)
    await asyncio.sleep(CALM_SECONDS)
    start = process.memory_mb
    print(f"start: {start:.0f} MB")
    for name, visitor in (("refused", refused), ("kept", kept)):
        process.forget_peak()
        statuses: Counter[int] = Counter()
        began = time.monotonic()
        for _ in range(uploads // 2):
            statuses[await upload(visitor)] += 1
        took = (time.monotonic() - began) / (uploads // 2)
        await asyncio.sleep(CALM_SECONDS)
        above = process.memory_mb - start
        verdict = "met" if above <= GOAL_MB else "missed"
        print(
            f"{uploads // 2} {name}: {dict(statuses)}, {took:.1f} s each; now {above:+.0f} MB above the start "
            f"(goal: {GOAL_MB}, {verdict}), at most {process.peak_memory_mb - start:+.0f} MB",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--uploads", type=int, default=40)
    arguments = parser.parse_args()
    settings = {"DOCUMENT_STORAGE_MEGABYTES": "2500", "RUN_WORKER": "off"}
    with temporary_site(SECRET_KEY="a-secret-of-the-benchmark-that-is-long", **settings):
        from django.db import connections

        from tests.benchmarks._people import make_people
        from tests.faults.processes import SiteProcess

        people = make_people(2)
        fill_storage("page0@example.org", megabytes=2500)
        connections.close_all()
        port = free_port()
        process = SiteProcess("serve", dict(os.environ) | {"PORT": str(port)}, Path(tempfile.mkdtemp()) / "site.log")
        try:
            refused, kept = (Visitor(port, each.cookie, str(each.conversation)) for each in people)
            asyncio.run(measure(refused, kept, process, arguments.uploads))
        finally:
            process.end()


def fill_storage(email: str, *, megabytes: int) -> None:
    """Store two small documents that count as so many megabytes together."""
    from chatsite.accounts.models import User
    from conversations.models import Document
    from conversations.services.conversations.conversations import start_conversation
    from tests.support.documents import add

    user = User.objects.get(email=email)
    place = start_conversation(user=user, public_id=uuid.uuid4())
    stored = [add(user, place, content=content).pk for content in (b"The lake freezes.", b"The lake thaws.")]
    Document.objects.filter(pk__in=stored).update(size_bytes=megabytes * 1_000_000 // len(stored))


if __name__ == "__main__":
    main()
