"""Streaming 50 paced replies through the whole product, against a bare websocket relay on httpx in the same run.

The product is the real server process, started as `make run` does: 50 people each follow a conversation of their own,
every reply is made by the worker, rendered, saved while it comes, stored whole, and its window and cost are in the
ledger. The relay only passes events on. Both read from the same fake provider, in turns, and serve the same clients.

The figure is chunks of the provider whose text arrived, for each second of CPU time of the server; the relay's is 1.0.
PostgreSQL's own processes are left out of it, as the provider is, and counted in a second figure. Every reply is
compared with what the provider sent and, by its SHA-256, with what is stored.

    python -m tests.benchmarks.streaming [--json FILE]
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

import psutil
import uvloop

from tests.benchmarks._clients import Received, RelayPage, SitePage
from tests.benchmarks._figures import Figures, percentile, run_benchmark, verdict
from tests.benchmarks._processes import cpu_seconds, started
from tests.benchmarks._provider import markdown_tokens
from tests.benchmarks._site import temporary_site
from tests.support.ports import free_port

REPLIES = 50
TOKENS = 600
PACE_MILLISECONDS = 25  # as the demo model: 40 tokens a second
STARTED_WITHIN_SECONDS = 1.0  # people do not send in the same moment
PAIRS = 3
AT_LEAST = 0.6
LANGUAGE_MODEL = f"markdown-{TOKENS}-{PACE_MILLISECONDS}"
EXPECTED = "".join(markdown_tokens(TOKENS))
Page = SitePage | RelayPage


@dataclass(frozen=True, slots=True)
class Round:
    """What one round cost, in CPU seconds, and how long each of its replies took to begin."""

    server_cpu_seconds: float
    postgres_cpu_seconds: float
    first_token_seconds: list[float]
    frames: int

    @property
    def chunks_per_cpu_second(self) -> float:
        return REPLIES * TOKENS / self.server_cpu_seconds

    @property
    def chunks_per_cpu_second_with_postgres(self) -> float:
        return REPLIES * TOKENS / (self.server_cpu_seconds + self.postgres_cpu_seconds)


@dataclass(frozen=True, slots=True)
class Contender:
    """A server with the pages that ask it."""

    name: str
    server: psutil.Process
    postgres: psutil.Process
    pages: Sequence[Page]

    def take_round(self) -> Round:
        server_before, postgres_before = cpu_seconds(self.server), cpu_seconds(self.postgres)
        received = uvloop.run(ask_all(self.pages))
        return Round(
            server_cpu_seconds=cpu_seconds(self.server) - server_before,
            postgres_cpu_seconds=cpu_seconds(self.postgres) - postgres_before,
            first_token_seconds=[reply.first_token_seconds for reply in received],
            frames=sum(reply.frames for reply in received),
        )


async def ask_all(pages: Sequence[Page]) -> list[Received]:
    """Return the replies of all pages, which begin one after the other. Raises `RuntimeError` unless all are whole."""

    async def ask(number: int, page: Page) -> Received:
        await asyncio.sleep(STARTED_WITHIN_SECONDS * number / len(pages))
        return await page.ask()

    received = await asyncio.gather(*(ask(number, page) for number, page in enumerate(pages)))
    if any(reply.text != EXPECTED for reply in received):
        raise RuntimeError("a reply did not arrive as the provider sent it")
    return received


def measure() -> Figures:
    with (
        started("-m", "tests.benchmarks._provider", ready="http") as (_, base_url),
        temporary_site(**site_settings(base_url)) as postgres,
        started("manage.py", "serve", ready="Stop it with") as (site, _),
        started("-m", "tests.benchmarks._relay", base_url, ready="ws") as (relay, relay_address),
    ):
        from tests.benchmarks._people import make_people

        people = make_people(REPLIES)
        address = os.environ["SITE_URL"]
        contenders = (
            Contender("product", site, postgres, [SitePage(address, p.cookie, p.conversation) for p in people]),
            Contender("relay", relay, postgres, [RelayPage(relay_address, LANGUAGE_MODEL)] * REPLIES),
        )
        rounds = take_rounds(contenders)
        verify_stored(person.stored_reply() for person in people)
    return figures(rounds)


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


def take_rounds(contenders: Sequence[Contender]) -> dict[str, list[Round]]:
    """Let the contenders take turns, so that the machine's moods hit all alike. The first pair warms up."""
    rounds = defaultdict(list)
    for pair in range(PAIRS + 1):
        for contender in contenders:
            taken = contender.take_round()
            if pair:
                rounds[contender.name].append(taken)
    return rounds


def verify_stored(replies: Iterable[str]) -> None:
    expected = sha256(EXPECTED)
    if any(sha256(reply) != expected for reply in replies):
        raise RuntimeError("a reply is not stored as the provider sent it")


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def figures(rounds: dict[str, list[Round]]) -> Figures:
    by_name = {name: summary(taken) for name, taken in rounds.items()}
    product, relay = by_name["product"], by_name["relay"]
    relay_rate = relay["chunks_per_cpu_second"]
    return {
        "replies": REPLIES,
        "tokens": TOKENS,
        "pace_milliseconds": PACE_MILLISECONDS,
        "pairs": PAIRS,
        "product_to_relay": product["chunks_per_cpu_second"] / relay_rate,
        "product_with_postgres_to_relay": product["chunks_per_cpu_second_with_postgres"] / relay_rate,
        **by_name,
    }


def summary(rounds: list[Round]) -> Figures:
    first_tokens = [seconds for taken in rounds for seconds in taken.first_token_seconds]
    return {
        "chunks_per_cpu_second": statistics.median(taken.chunks_per_cpu_second for taken in rounds),
        "chunks_per_cpu_second_with_postgres": statistics.median(
            taken.chunks_per_cpu_second_with_postgres for taken in rounds
        ),
        "first_token_seconds": {"p50": percentile(first_tokens, 0.5), "p95": percentile(first_tokens, 0.95)},
        "rounds": [asdict(taken) for taken in rounds],
    }


def report(result: Figures) -> None:
    print("{replies} replies of {tokens} tokens, one each {pace_milliseconds} ms; {pairs} pairs".format(**result))
    for name in ("product", "relay"):
        row, first = result[name], result[name]["first_token_seconds"]
        print(
            f"{name:<8} {row['chunks_per_cpu_second']:>6.0f} chunks a CPU second, "
            f"first token after {first['p50'] * 1e3:.0f} ms (p50), {first['p95'] * 1e3:.0f} ms (p95)"
        )
    print("product : relay                 ", verdict(result["product_to_relay"], at_least=AT_LEAST))
    print(f"product with PostgreSQL : relay  {result['product_with_postgres_to_relay']:.2f}")


if __name__ == "__main__":
    run_benchmark(__doc__.splitlines()[0], measure, report)
