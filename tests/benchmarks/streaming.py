"""Streaming paced replies through the whole product, against a bare websocket relay on httpx in the same run.

The product is the real server process, started as `make run` does: people each follow a conversation of their own,
every reply is made by the worker, rendered, saved while it comes, stored whole, and its window and cost are in the
ledger. The relay only passes events on. Both read from the same fake provider, in turns, and serve the same clients.

The figure is chunks of the provider whose text arrived, for each second of CPU time of the server; the relay's is 1.0.
PostgreSQL's own processes are left out of it, as the provider is, and counted in a second figure. Every reply is
compared with what the provider sent and, by its SHA-256, with what is stored.

    python -m tests.benchmarks.streaming [--replies 50] [--tokens 600] [--pace 25] [--within 1] [--pairs 3]
                                         [--processes 1] [--json F]

*pace* is milliseconds before each token, *within* the seconds in which all are asked for. With several *processes* the
product is that many web processes and a worker behind one port, with a redis-server between them; the CPU time is that
of all of them together, and Redis's is a figure of its own. How much more they do in a second shows the figure of
chunks a wall second, where --pace 1 asks for more than they can do.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import os
import shutil
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass

import psutil
import uvloop

from tests.benchmarks._clients import Program, Received, RelayPage, SitePage
from tests.benchmarks._figures import Figures, arguments_for, percentile, verdict, write_json
from tests.benchmarks._processes import cpu_seconds, started
from tests.benchmarks._provider import markdown_tokens
from tests.benchmarks._site import temporary_site
from tests.faults.processes import RedisProcess
from tests.support.ports import free_port

AT_LEAST = 0.6  # for the load below
Page = SitePage | RelayPage | Program


@dataclass(frozen=True, slots=True)
class Load:
    """How many replies are asked for, and what each is; people do not send in the same moment."""

    replies: int = 50
    tokens: int = 600
    pace_milliseconds: int = 25  # as the demo model: 40 tokens a second
    within_seconds: float = 1.0
    pairs: int = 3
    processes: int = 1

    @property
    def language_model(self) -> str:
        return f"markdown-{self.tokens}-{self.pace_milliseconds}"

    @property
    def text(self) -> str:
        return "".join(markdown_tokens(self.tokens))


@dataclass(frozen=True, slots=True)
class Round:
    """What one round cost, in CPU seconds, and how long it took, and each of its replies to begin."""

    chunks: int
    wall_seconds: float
    server_cpu_seconds: float
    postgres_cpu_seconds: float
    redis_cpu_seconds: float
    first_token_seconds: list[float]
    frames: int
    gaps: int

    @property
    def chunks_per_cpu_second(self) -> float:
        return self.chunks / self.server_cpu_seconds

    @property
    def chunks_per_wall_second(self) -> float:
        return self.chunks / self.wall_seconds

    @property
    def chunks_per_cpu_second_with_postgres(self) -> float:
        return self.chunks / (self.server_cpu_seconds + self.postgres_cpu_seconds)


@dataclass(frozen=True, slots=True)
class Contender:
    """A server with the pages that ask it."""

    name: str
    server: psutil.Process
    postgres: psutil.Process | None
    redis: psutil.Process | None
    pages: Sequence[Page]

    def take_round(self, load: Load) -> Round:
        server_before, postgres_before, redis_before = self._cpu_seconds()
        began = time.monotonic()
        received = uvloop.run(ask_all(self.pages, load))
        wall_seconds = time.monotonic() - began
        server, postgres, redis = self._cpu_seconds()
        return Round(
            chunks=load.replies * load.tokens,
            wall_seconds=wall_seconds,
            server_cpu_seconds=server - server_before,
            postgres_cpu_seconds=postgres - postgres_before,
            redis_cpu_seconds=redis - redis_before,
            first_token_seconds=[reply.first_token_seconds for reply in received],
            frames=sum(reply.frames for reply in received),
            gaps=sum(reply.gaps for reply in received),
        )

    def _cpu_seconds(self) -> tuple[float, float, float]:
        server, *others = (cpu_seconds(each) if each else 0.0 for each in (self.server, self.postgres, self.redis))
        return server, others[0], others[1]


async def ask_all(pages: Sequence[Page], load: Load) -> list[Received]:
    """Return the replies of all pages, which begin one after the other. Raises `RuntimeError` unless all are whole.

    Between several processes frames may be lost: a page asks for what is missing. Here such gaps are counted alone.
    """

    async def ask(number: int, page: Page) -> Received:
        await asyncio.sleep(load.within_seconds * number / len(pages))
        return await page.ask()

    received = await asyncio.gather(*(ask(number, page) for number, page in enumerate(pages)))
    if any(reply.text != load.text and load.processes == 1 for reply in received):
        raise RuntimeError("a reply did not arrive as the provider sent it")
    return received


def measure(load: Load) -> Figures:
    with (
        redis_between(load.processes) as (redis, redis_url),
        started("-m", "tests.benchmarks._provider", ready="http") as (_, base_url),
        temporary_site(
            **site_settings(base_url, load.language_model),
            PROCESSES=str(load.processes),
            REDIS_URL=redis_url,
            REPLIES_AT_ONCE=str(max(load.replies, 100)),  # else some wait until others have ended
        ) as postgres,
        started("manage.py", "serve", ready="Stop it with") as (site, _),
        started("-m", "tests.benchmarks._relay", base_url, ready="ws") as (relay, relay_address),
    ):
        from tests.benchmarks._people import make_people

        people = make_people(load.replies)
        address = os.environ["SITE_URL"]
        contenders = (
            Contender("product", site, postgres, redis, [SitePage(address, p.cookie, p.conversation) for p in people]),
            Contender("relay", relay, None, None, [RelayPage(relay_address, load.language_model)] * load.replies),
        )
        rounds = take_rounds(contenders, load)
        verify_stored((person.stored_reply() for person in people), load.text)
    return figures(rounds, load)


@contextmanager
def redis_between(processes: int) -> Iterator[tuple[psutil.Process | None, str]]:
    """Yield a redis-server and its address, if there are several *processes*."""
    if processes == 1:
        yield None, ""
        return
    redis = RedisProcess(shutil.which("redis-server") or sys.exit("needs redis-server: apt-get install redis-server"))
    try:
        yield psutil.Process(redis.process.pid), redis.url
    finally:
        redis.kill()


def site_settings(base_url: str, language_model: str) -> dict[str, str]:
    port = str(free_port())
    return {
        "PORT": port,
        "SITE_URL": f"http://127.0.0.1:{port}",
        "OPENAI_BASE_URL": base_url,
        "LANGUAGE_MODELS": f"{language_model} context_window=8192 encoding=o200k_base input_usd=1 output_usd=2",
        "MESSAGES_PER_MINUTE": "0",
        "REPLIES_PER_USER": "0",
    }


def take_rounds(contenders: Sequence[Contender], load: Load) -> dict[str, list[Round]]:
    """Let the contenders take turns, so that the machine's moods hit all alike. The first pair warms up."""
    rounds = defaultdict(list)
    for pair in range(load.pairs + 1):
        for contender in contenders:
            taken = contender.take_round(load)
            if pair:
                rounds[contender.name].append(taken)
    return rounds


def verify_stored(replies: Iterable[str], expected: str) -> None:
    if any(sha256(reply) != sha256(expected) for reply in replies):
        raise RuntimeError("a reply is not stored as the provider sent it")


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def figures(rounds: dict[str, list[Round]], load: Load) -> Figures:
    by_name = {name: summary(taken, load.replies) for name, taken in rounds.items()}
    product, relay = by_name["product"], by_name["relay"]
    relay_rate = relay["chunks_per_cpu_second"]
    return {
        **asdict(load),
        "product_to_relay": product["chunks_per_cpu_second"] / relay_rate,
        "product_with_postgres_to_relay": product["chunks_per_cpu_second_with_postgres"] / relay_rate,
        **by_name,
    }


def summary(rounds: list[Round], replies: int) -> Figures:
    first_tokens = [seconds for taken in rounds for seconds in taken.first_token_seconds]
    return {
        "chunks_per_cpu_second": statistics.median(taken.chunks_per_cpu_second for taken in rounds),
        "chunks_per_cpu_second_with_postgres": statistics.median(
            taken.chunks_per_cpu_second_with_postgres for taken in rounds
        ),
        "gaps": sum(taken.gaps for taken in rounds),
        "chunks_per_wall_second": statistics.median(taken.chunks_per_wall_second for taken in rounds),
        "redis_milliseconds_a_reply": statistics.median(taken.redis_cpu_seconds for taken in rounds) * 1e3 / replies,
        "server_milliseconds_a_reply": statistics.median(taken.server_cpu_seconds for taken in rounds) * 1e3 / replies,
        "postgres_milliseconds_a_reply": statistics.median(taken.postgres_cpu_seconds for taken in rounds)
        * 1e3
        / replies,
        "first_token_seconds": {"p50": percentile(first_tokens, 0.5), "p95": percentile(first_tokens, 0.95)},
        "rounds": [asdict(taken) for taken in rounds],
    }


def report(result: Figures) -> None:
    print("{replies} replies of {tokens} tokens, one each {pace_milliseconds} ms; {pairs} pairs".format(**result))
    load_now, _, load_before = os.getloadavg()
    print(f"{result['processes']} web processes; load of the machine {load_now:.1f}, before {load_before:.1f}")
    for name in ("product", "relay"):
        report_contender(name, result[name])
    print("product : relay                 ", verdict(result["product_to_relay"], at_least=AT_LEAST))
    print(f"product with PostgreSQL : relay  {result['product_with_postgres_to_relay']:.2f}")


def report_contender(name: str, row: Figures) -> None:
    first = row["first_token_seconds"]
    print(
        f"{name:<8} {row['chunks_per_cpu_second']:>6.0f} chunks a CPU second, "
        f"{row['server_milliseconds_a_reply']:.1f} + {row['postgres_milliseconds_a_reply']:.1f} + "
        f"{row['redis_milliseconds_a_reply']:.1f} ms a reply (site, PostgreSQL, Redis), "
        f"{row['chunks_per_wall_second']:.0f} chunks a second, {row['gaps']} gaps, "
        f"first token after {first['p50'] * 1e3:.0f} ms (p50), {first['p95'] * 1e3:.0f} ms (p95)"
    )


def load_arguments(about: str) -> argparse.ArgumentParser:
    """Return the arguments that say what is asked for."""
    usual, arguments = Load(), arguments_for(about)
    arguments.add_argument("--replies", type=int, default=usual.replies)
    arguments.add_argument("--tokens", type=int, default=usual.tokens)
    arguments.add_argument("--pace", type=int, default=usual.pace_milliseconds, help="milliseconds before each token")
    arguments.add_argument("--within", type=float, default=usual.within_seconds, help="seconds in which all are begun")
    arguments.add_argument("--pairs", type=int, default=usual.pairs)
    return arguments


def load_of(chosen: argparse.Namespace, *, processes: int = 1) -> Load:
    return Load(chosen.replies, chosen.tokens, chosen.pace, chosen.within, chosen.pairs, processes)


def main() -> None:
    arguments = load_arguments(__doc__.splitlines()[0])
    arguments.add_argument("--processes", type=int, default=Load().processes, help="web processes of the product")
    chosen = arguments.parse_args()
    result = measure(load_of(chosen, processes=chosen.processes))
    report(result)
    write_json(result, chosen.json)


if __name__ == "__main__":
    main()
