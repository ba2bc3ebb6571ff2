"""How long others wait for the first token of a reply while a 300-page PDF and 10,000 records are read.

The product is the real server process, as `make run` starts it. People talk, each asking again as soon as the reply has
come. In one round another user has uploaded a document, which is read by the same process and its child; the round ends
when it is ready. In the next, as long, none was. Rounds take turns, so that the machine's moods hit both alike.

    python -m tests.benchmarks.ingestion [--json FILE]
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import statistics
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import Any

import psutil
import uvloop

from tests.benchmarks._clients import SitePage
from tests.benchmarks._figures import Figures, percentile, run_benchmark, verdict
from tests.benchmarks._processes import started
from tests.benchmarks._provider import markdown_tokens
from tests.benchmarks._site import temporary_site
from tests.support.ports import free_port

PEOPLE = 10
TOKENS = 60
PACE_MILLISECONDS = 25
PAIRS = 2
PAGES = 300
RECORDS = 10_000
AT_MOST = 1.3
LOOK_SECONDS = 0.1
LONGEST_READING_SECONDS = 300
LANGUAGE_MODEL = f"markdown-{TOKENS}-{PACE_MILLISECONDS}"
WORDS = "".join(markdown_tokens(2_000)).split()


@dataclass(slots=True)
class Memory:
    """The most that the server and its children had, in megabytes of resident memory."""

    server_megabytes: float = 0
    child_megabytes: float = 0


@dataclass(frozen=True, slots=True)
class Round:
    """What was read, if anything, how long it took, and how long each reply took to begin meanwhile."""

    reads: str
    seconds: float
    memory: Memory
    first_token_seconds: list[float]


def measure() -> Figures:
    with (
        started("-m", "tests.benchmarks._provider", ready="http") as (_, base_url),
        temporary_site(**site_settings(base_url)),
        started("manage.py", "serve", ready="Stop it with") as (site, _),
    ):
        return figures(take_rounds(site))


def site_settings(base_url: str) -> dict[str, str]:
    port = str(free_port())
    return {
        "PORT": port,
        "SITE_URL": f"http://127.0.0.1:{port}",
        "OPENAI_BASE_URL": base_url,
        "LANGUAGE_MODELS": f"{LANGUAGE_MODEL} context_window=8192 encoding=o200k_base input_usd=1 output_usd=2",
        "MESSAGES_PER_MINUTE": "0",
        "REPLIES_PER_USER": "0",
    }


def take_rounds(site: psutil.Process) -> list[Round]:
    from tests.benchmarks._people import make_people

    pages = [SitePage(os.environ["SITE_URL"], each.cookie, each.conversation) for each in make_people(PEOPLE)]
    files = {"pdf": ("book.pdf", make_pdf()), "records": ("talks.json", make_records())}
    rounds = [take_round(site, pages, "warm-up", for_seconds(3))]
    for _ in range(PAIRS):
        for reads, (name, content) in files.items():
            busy = take_round(site, pages, reads, until_read(name, content))
            rounds += [busy, take_round(site, pages, "nothing", for_seconds(busy.seconds))]
    return rounds[1:]


def take_round(
    site: psutil.Process, pages: Sequence[SitePage], reads: str, over: Callable[[], Awaitable[None]]
) -> Round:
    began = time.monotonic()
    with watched(site) as memory:
        first_tokens = uvloop.run(talk(pages, over))
    return Round(reads, time.monotonic() - began, memory, first_tokens)


async def talk(pages: Sequence[SitePage], over: Callable[[], Awaitable[None]]) -> list[float]:
    """Let everybody ask until *over* returns; return the seconds to the first token of replies asked for before."""
    waiting = asyncio.ensure_future(over())
    first_tokens: list[float] = []

    async def ask_again_and_again(number: int, page: SitePage) -> None:
        await asyncio.sleep(number * TOKENS * PACE_MILLISECONDS / 1000 / len(pages))
        while not waiting.done():
            first_tokens.append((await page.ask()).first_token_seconds)

    await asyncio.gather(waiting, *(ask_again_and_again(number, page) for number, page in enumerate(pages)))
    return first_tokens


def for_seconds(seconds: float) -> Callable[[], Awaitable[None]]:
    return lambda: asyncio.sleep(seconds)


def until_read(name: str, content: bytes) -> Callable[[], Awaitable[None]]:
    """Return what brings a document to a conversation of its own and returns when it is ready."""

    async def read() -> None:
        document = await asyncio.to_thread(bring, name, content)
        async with asyncio.timeout(LONGEST_READING_SECONDS):
            while not await asyncio.to_thread(is_ready, document):
                await asyncio.sleep(LOOK_SECONDS)

    return read


def bring(name: str, content: bytes) -> Any:
    import uuid

    from conversations.services.documents.documents import add_document
    from tests.support.people import begin, make_user

    conversation = begin(make_user(f"reader-{uuid.uuid4().hex[:8]}"))
    return add_document(user=conversation.owner, place=conversation, name=name, content=content).document


def is_ready(document: Any) -> bool:
    document.refresh_from_db()
    if document.state == "failed":
        raise RuntimeError(f"{document} could not be read: {document.error_code}")
    return bool(document.is_ready)


@contextmanager
def watched(site: psutil.Process) -> Iterator[Memory]:
    """Watch the memory of the server and its children, in a thread."""
    memory, over = Memory(), threading.Event()

    def watch() -> None:
        while not over.wait(LOOK_SECONDS):
            memory.server_megabytes = max(memory.server_megabytes, megabytes(site))
            for child in site.children(recursive=True):
                memory.child_megabytes = max(memory.child_megabytes, megabytes(child))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield memory
    finally:
        over.set()
        thread.join()


def megabytes(process: psutil.Process) -> float:
    with suppress(psutil.NoSuchProcess):
        return process.memory_info().rss / 2**20
    return 0.0


def make_records() -> bytes:
    records = [
        {"number": number, "title": " ".join(words(number, 6)), "summary": " ".join(words(number, 60))}
        for number in range(RECORDS)
    ]
    return json.dumps(records).encode()


def make_pdf() -> bytes:
    from reportlab.pdfgen.canvas import Canvas

    content = io.BytesIO()
    canvas = Canvas(content)
    for page in range(PAGES):
        for line in range(45):
            canvas.drawString(50, 780 - 16 * line, " ".join(words(45 * page + line, 11))[:95])
        canvas.showPage()
    canvas.save()
    return content.getvalue()


def words(start: int, count: int) -> list[str]:
    return [WORDS[(start * 7 + number) % len(WORDS)] for number in range(count)]


def figures(rounds: Sequence[Round]) -> Figures:
    quiet = [seconds for each in rounds if each.reads == "nothing" for seconds in each.first_token_seconds]
    by_file = {reads: summary([each for each in rounds if each.reads == reads], quiet) for reads in ("pdf", "records")}
    return {
        "people": PEOPLE,
        "quiet": {"p50": percentile(quiet, 0.5), "p95": percentile(quiet, 0.95), "replies": len(quiet)},
        **by_file,
        "rounds": [asdict(each) for each in rounds],
    }


def summary(rounds: Sequence[Round], quiet: Sequence[float]) -> Figures:
    busy = [seconds for each in rounds for seconds in each.first_token_seconds]
    return {
        "seconds": statistics.median(each.seconds for each in rounds),
        "p50": percentile(busy, 0.5),
        "p95": percentile(busy, 0.95),
        "replies": len(busy),
        "p50_to_quiet": percentile(busy, 0.5) / percentile(quiet, 0.5),
        "p95_to_quiet": percentile(busy, 0.95) / percentile(quiet, 0.95),
        "server_megabytes": max(each.memory.server_megabytes for each in rounds),
        "child_megabytes": max(each.memory.child_megabytes for each in rounds),
    }


def report(result: Figures) -> None:
    quiet = result["quiet"]
    print(f"{result['people']} people; nothing is read: first token after {milliseconds(quiet)}")
    for reads, what in (("pdf", f"{PAGES} pages"), ("records", f"{RECORDS:,} records")):
        row = result[reads]
        print(f"\n{what}, read in {row['seconds']:.1f} s: first token after {milliseconds(row)}")
        print("  to nothing, p50:", verdict(row["p50_to_quiet"], at_most=AT_MOST))
        print("  to nothing, p95:", verdict(row["p95_to_quiet"], at_most=AT_MOST))
        print(f"  at most {row['server_megabytes']:.0f} MB in the server, {row['child_megabytes']:.0f} MB in its child")


def milliseconds(row: Figures) -> str:
    return f"{row['p50'] * 1e3:.0f} ms (p50), {row['p95'] * 1e3:.0f} ms (p95), of {row['replies']} replies"


if __name__ == "__main__":
    run_benchmark(__doc__.splitlines()[0], measure, report)
