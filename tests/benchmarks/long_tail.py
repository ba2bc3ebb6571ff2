"""Long tail: the slowest first tokens of short replies that are begun at a steady rate, by the clock, for minutes.

Each person follows a conversation of their own over a socket that is opened for the reply, and asks again when it is
their turn; with *open*, over one that has been open since before the first request. Requests begin by the clock, as
those of many people do, so one that waits makes none of the others wait. The first tenth of the time warms up. Every
reply must arrive whole.

    python -m tests.benchmarks.long_tail [--begun 50] [--seconds 300] [--tokens 20] [--pace 25] [--people 1000]
                                         [--processes 1] [--open] [--json F]

*begun* is replies a second. With several *processes* a worker of its own and a redis-server are between them.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from functools import partial

import psutil
import uvloop

from tests.benchmarks._clients import Received, SitePage
from tests.benchmarks._figures import Figures, arguments_for, percentile, verdict, write_json
from tests.benchmarks._processes import cpu_seconds, started
from tests.benchmarks._site import temporary_site
from tests.benchmarks.streaming import Load, redis_between, site_settings

P99_TO_P50 = 4
WARM_UP = 0.1  # of the time


@dataclass(frozen=True, slots=True)
class Rate:
    """How many replies are *begun* a second, for how many *seconds*, and what each is."""

    begun: float
    seconds: float
    tokens: int
    pace_milliseconds: int
    people: int
    processes: int
    are_open: bool = False

    @property
    def reply(self) -> Load:
        return Load(tokens=self.tokens, pace_milliseconds=self.pace_milliseconds)


@dataclass(frozen=True, slots=True)
class Asked:
    """A reply that was asked for *at* so many seconds after the start, or what went wrong."""

    at: float
    late_seconds: float  # that the client itself was late: beyond some milliseconds it measures itself
    received: Received | None
    error: str = ""


async def ask_all(pages: list[SitePage], rate: Rate, note_begin: Callable[[], None]) -> list[Asked]:
    """Ask at the rate, over sockets that are open by then, or opened for each; *note_begin* is called before that."""
    if not rate.are_open:
        note_begin()
        return await ask_at_rate([page.ask for page in pages], rate)
    async with AsyncExitStack() as opened:
        asking = []
        for page in pages:
            socket = await opened.enter_async_context(page.connect())
            await page.follow(socket)
            asking.append(partial(page.ask_on, socket))
        note_begin()
        return await ask_at_rate(asking, rate)


async def ask_at_rate(asking: Sequence[Callable[[], Awaitable[Received]]], rate: Rate) -> list[Asked]:
    began, count = time.monotonic(), int(rate.begun * rate.seconds)

    async def ask(number: int) -> Asked:
        at = number / rate.begun
        await asyncio.sleep(began + at - time.monotonic())
        late = time.monotonic() - began - at
        try:
            received = await asking[number % len(asking)]()
        except Exception as error:
            return Asked(at, late, None, f"{type(error).__name__}: {error}"[:200])
        whole = received.text == rate.reply.text
        return Asked(at, late, received, "" if whole else "not as the provider sent it")

    return await asyncio.gather(*map(ask, range(count)))


def measure(rate: Rate) -> Figures:
    with (
        redis_between(rate.processes) as (redis, redis_url),
        started("-m", "tests.benchmarks._provider", ready="http") as (_, base_url),
        temporary_site(
            **site_settings(base_url, rate.reply.language_model),
            PROCESSES=str(rate.processes),
            REDIS_URL=redis_url,
            REPLIES_AT_ONCE=str(rate.people),
        ) as postgres,
        started("manage.py", "serve", ready="Stop it with") as (site, _),
    ):
        from tests.benchmarks._people import make_people

        servers = {"site": site, "postgres": postgres} | ({"redis": redis} if redis else {})
        pages = [SitePage(os.environ["SITE_URL"], each.cookie, each.conversation) for each in make_people(rate.people)]
        used: dict[str, float] = {}
        asked = uvloop.run(ask_all(pages, rate, lambda: used.update(cpu_of(servers))))
        used = {name: (1_000 * (after - used[name]) / len(asked)) for name, after in cpu_of(servers).items()}
    return figures_of(asked, rate) | {"milliseconds_a_reply": used}


def cpu_of(servers: dict[str, psutil.Process]) -> dict[str, float]:
    """Return the processor time used until now, in seconds, of the *servers* and of this process, their client."""
    return {name: cpu_seconds(each) for name, each in servers.items()} | {"client": time.process_time()}


def figures_of(asked: list[Asked], rate: Rate) -> Figures:
    counted = [each for each in asked if each.at >= WARM_UP * rate.seconds]
    seconds = [each.received.first_token_seconds for each in counted if each.received]
    errors = [each.error for each in asked if each.error]
    quantiles = {f"p{100 * share:g}": percentile(seconds, share) for share in (0.5, 0.9, 0.95, 0.99, 0.999)}
    return {
        **asdict(rate),
        "replies": len(counted),
        "first_token_seconds": {**quantiles, "most": max(seconds)},
        "p99_to_p50": quantiles["p99"] / quantiles["p50"],
        "client_late_seconds": {"p99": percentile([each.late_seconds for each in counted], 0.99)},
        "failed": len(errors),
        "errors": sorted(set(errors))[:10],
        "p50_by_tenth": [
            percentile([each.received.first_token_seconds for each in tenth if each.received], 0.5)
            for tenth in tenths(counted)
        ],
    }


def tenths(asked: list[Asked]) -> list[list[Asked]]:
    """Return those of each tenth of the time: what grows shows that more is begun than can be done."""
    size = max(1, len(asked) // 10)
    return [asked[start : start + size] for start in range(0, 10 * size, size)]


def report(result: Figures) -> None:
    print("{replies} replies of {tokens} tokens, {begun:g} begun a second; {processes} web processes".format(**result))
    shown = ", ".join(f"{name} {1e3 * each:.0f}" for name, each in result["first_token_seconds"].items())
    print(f"first token after, ms: {shown}; {result['failed']} failed {result['errors'] or ''}")
    print("p50 by tenth of the time, ms:", ", ".join(f"{1e3 * each:.0f}" for each in result["p50_by_tenth"]))
    used = ", ".join(f"{name} {each:.1f}" for name, each in result["milliseconds_a_reply"].items())
    print(f"processor time of a reply, ms: {used}; the client was late by {result['client_late_seconds']}")
    print("p99 : p50", verdict(result["p99_to_p50"], at_most=P99_TO_P50))


def main() -> None:
    parser = arguments_for(__doc__.splitlines()[0])
    parser.add_argument("--begun", type=float, default=50, help="replies a second")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--tokens", type=int, default=20)
    parser.add_argument("--pace", type=int, default=25, help="milliseconds before each token")
    parser.add_argument("--people", type=int, default=1_000)
    parser.add_argument("--processes", type=int, default=1, help="web processes")
    parser.add_argument("--open", action="store_true", help="pages are open before, as most are, and stay so")
    chosen = parser.parse_args()
    rate = Rate(chosen.begun, chosen.seconds, chosen.tokens, chosen.pace, chosen.people, chosen.processes, chosen.open)
    result = measure(rate)
    write_json(result, chosen.json)
    report(result)


if __name__ == "__main__":
    main()
