"""Replies a second of a whole site, as far as its money allows: all of them meet in the sums of its day and month.

Several connections of two processes open rows of the ledger and settle them, as a reply does before and after its
request to the provider, each for a user of its own and without a pause. Nothing else of a reply is done. With
`--sums-alone` the row is written by a plain INSERT, in the same transaction, and nothing is counted or digested: so
that Python takes less of the machine, and more is left for PostgreSQL. The site has, in turn,

    no budget       nothing is checked for the site
    a large budget  far from being used up
    a tight budget  just enough for all that run at once, at no cost: each request finds room, and none to spare

and of each the median of several rounds is told, with the slowest and the fastest of them, what CPU time a reply takes,
and how many requests were refused. PostgreSQL waits for its disk at each commit (`synchronous_commit`), as in the
product, unless `--without-waiting`.

    python -m tests.benchmarks.hot_rows [--connections 32] [--seconds 5] [--rounds 5] [--sums-alone] [--without-waiting]
                                        [--json FILE]
"""

from __future__ import annotations

import multiprocessing
import os
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import psutil

from tests.benchmarks._figures import Figures, arguments_for, verdict, write_json
from tests.benchmarks._processes import cpu_seconds
from tests.benchmarks._site import temporary_site

PROCESSES = 2
WIDTH = 14
LEAST_REPLIES = 500  # a second, of a site with a large budget
WORST_USD = Decimal("0.01")
TOKENS = 10_000  # at a dollar for a million
BODY = {"messages": [{"role": "system", "content": "You clean windows."}, {"role": "user", "content": "Good morning?"}]}
NO_WAITING = {"PGOPTIONS": "-c synchronous_commit=off"}
INSERT_ROW = """
INSERT INTO conversations_completion (
  user_id, purpose, step, attempt, language_model, request, messages_digest, opening_key, estimated_input_tokens,
  price_source, reserved_usd, finish_reason, error_code, provider_request_id
) VALUES (%s, 'reply', 1, 1, 'letters', '{}', '', gen_random_uuid(), 10000, '', %s, '', '', '') RETURNING id, created_at
"""
_barrier: Any = None


@dataclass(frozen=True, slots=True)
class Counted:
    """What the connections of one process did in so many *seconds*."""

    replies: int
    refused: int
    seconds: float
    cpu_seconds: float


def measure(*, connections: int, seconds: float, rounds: int, waiting: bool, sums_alone: bool) -> Figures:
    way = "sums alone" if sums_alone else "functions of the ledger"
    with temporary_site(**({} if waiting else NO_WAITING)) as postgres:
        users = make_users(connections)
        budgets = {
            "no budget": (None, TOKENS // 10),
            "a large budget": (Decimal(1_000_000), TOKENS // 10),
            "a tight budget": (WORST_USD * connections, 0),
        }
        context = multiprocessing.get_context("spawn")
        arguments = (context.Barrier(PROCESSES),)
        with ProcessPoolExecutor(PROCESSES, context, initializer=set_up, initargs=arguments) as processes:
            measured: dict[str, list[Figures]] = {name: [] for name in budgets}
            for _ in range(rounds):
                for name, (budget_usd, used_tokens) in budgets.items():
                    begin_day(budget_usd)
                    measured[name].append(measure_round(processes, postgres, (users, way, seconds, used_tokens)))
            wrong = len(wrong_sums())
    return {
        "connections": connections,
        "seconds": seconds,
        "way": way,
        "waiting_for_disk": waiting,
        "load_average": os.getloadavg(),
        "wrong_sums": wrong,
        "budgets": {name: summary_of(figures) for name, figures in measured.items()},
    }


def make_users(number: int) -> list[int]:
    from chatsite.accounts.models import User

    users = [User(email=f"person{index}@example.org", name=f"Person {index}") for index in range(number)]
    return [user.pk for user in User.objects.bulk_create(users)]


def begin_day(budget_usd: Decimal | None) -> None:
    """Give the site its budget, and a day in which nothing has been spent."""
    from django.db import connection

    from chatsite.accounts.models import SiteBudget

    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE conversations_completion, conversations_spending, conversations_ledgersum")
    SiteBudget.objects.all().delete()
    if budget_usd is not None:
        SiteBudget.objects.create(money_per_day_usd=budget_usd, money_per_month_usd=budget_usd * 20)


def wrong_sums() -> list[Any]:
    from conversations.services.ledger.recompute_spending import recompute_spending

    return list(recompute_spending(mend=False))


def measure_round(
    processes: ProcessPoolExecutor, postgres: psutil.Process, job: tuple[list[int], str, float, int]
) -> Figures:
    """Let both processes run *job*: users, of whom each process has half, then what `run_connections` takes."""
    before = cpu_seconds(postgres)
    users, *arguments = job
    shares = [users[number::PROCESSES] for number in range(PROCESSES)]
    running = [processes.submit(run_connections, share, *arguments) for share in shares]
    counted = [future.result() for future in running]
    replies = sum(each.replies for each in counted)
    return {
        "replies_per_second": sum(each.replies / each.seconds for each in counted),
        "refused": sum(each.refused for each in counted),
        "cpu_ms_of_python": 1000 * sum(each.cpu_seconds for each in counted) / max(replies, 1),
        "cpu_ms_of_postgresql": 1000 * (cpu_seconds(postgres) - before) / max(replies, 1),
    }


def summary_of(rounds: list[Figures]) -> Figures:
    rates = [each["replies_per_second"] for each in rounds]
    return {
        "replies_per_second": statistics.median(rates),
        "slowest": min(rates),
        "fastest": max(rates),
        "rounds": len(rates),
        "refused": sum(each["refused"] for each in rounds),
        "cpu_ms_of_python": statistics.median(each["cpu_ms_of_python"] for each in rounds),
        "cpu_ms_of_postgresql": statistics.median(each["cpu_ms_of_postgresql"] for each in rounds),
    }


# In each of the processes


def set_up(barrier: Any) -> None:
    import django

    global _barrier  # a barrier can only be given to an initializer
    _barrier = barrier
    django.setup()


def run_connections(user_ids: list[int], way: str, seconds: float, used_tokens: int) -> Counted:
    """Reserve and settle for each of the users in a thread of its own, all beginning when the other process does."""
    from django.db import connection

    from chatsite.accounts.models import User

    users = list(User.objects.filter(pk__in=user_ids))
    connection.close()  # the threads need all that the pool has
    _barrier.wait()
    began, used = time.monotonic(), time.process_time()
    with ThreadPoolExecutor(len(users)) as threads:
        until = began + seconds
        counts = list(threads.map(lambda user: reply_until(until, WAYS[way], user, used_tokens), users))
    return Counted(
        replies=sum(replies for replies, _ in counts),
        refused=sum(refused for _, refused in counts),
        seconds=time.monotonic() - began,
        cpu_seconds=time.process_time() - used,
    )


def reply_until(moment: float, reply: Callable[[Any, int], bool], user: Any, used_tokens: int) -> tuple[int, int]:
    """Return how many replies were made until then, and how many refused."""
    from django.db import connection

    counts = [0, 0]
    try:
        while time.monotonic() < moment:
            counts[not reply(user, used_tokens)] += 1
        return counts[0], counts[1]
    finally:
        connection.close()


def reply_by_functions(user: Any, used_tokens: int) -> bool:
    """Open and settle as the product does, and return whether it was covered."""
    from conversations.core.errors import AccessError
    from conversations.core.money.usage import Usage
    from conversations.services.ledger.ledger import Outcome, open_completion, settle_completion

    try:
        completion = open_completion(new_completion(user))
    except AccessError:
        return False
    return settle_completion(completion, Outcome(usage=Usage(used_tokens, 0), finish_reason="stop"))


def reply_by_sums_alone(user: Any, used_tokens: int) -> bool:
    """Write a row, reserve and settle, and return whether it was covered."""
    from conversations.selectors.figures.spending import money_limits
    from conversations.services.ledger.reservations import NotCovered, settle

    limits = money_limits(user)
    try:
        row = reserve_with_row(user, limits)
    except NotCovered:
        return False
    return settle(
        row,
        {
            "input_tokens": used_tokens,
            "output_tokens": 0,
            "usage_estimated": False,
            "cost_usd": Decimal(used_tokens) / 1_000_000,
            "finish_reason": "stop",
        },
    )


def reserve_with_row(user: Any, limits: Any) -> int:
    from django.db import connection, transaction

    from conversations.services.ledger.reservations import Amount, PartsChanged, reserve

    for in_all_parts in (False, True):
        try:
            with transaction.atomic():
                with connection.cursor() as cursor:
                    cursor.execute(INSERT_ROW, [user.pk, WORST_USD])
                    row, created_at = cursor.fetchone()
                reserve([Amount(user.pk, created_at, WORST_USD)], limits, in_all_parts=in_all_parts)
            return int(row)
        except PartsChanged:
            continue
    raise AssertionError("what looks at all parts finds none changed")


WAYS = {"functions of the ledger": reply_by_functions, "sums alone": reply_by_sums_alone}


def new_completion(user: Any) -> Any:
    from conversations.core.money.unit_prices import UnitPrices
    from conversations.models.completion import Purpose
    from conversations.services.ledger.ledger import NewCompletion

    return NewCompletion(
        purpose=Purpose.REPLY,
        user=user,
        language_model="letters",
        body=BODY,
        prices=UnitPrices(input_usd=Decimal(1), output_usd=Decimal(2)),
        prompt_tokens=TOKENS,
        most_prompt_tokens=TOKENS,
        max_output_tokens=0,
    )


def report(figures: Figures) -> None:
    waiting = "waiting" if figures["waiting_for_disk"] else "not waiting"
    print(f"{figures['way']}: {figures['connections']} connections of {PROCESSES} processes, {waiting} for the disk")
    columns = ("median", "slowest", "fastest", "refused", "CPU ms", "of PostgreSQL")
    print(f"\n{'replies a second':<20}{''.join(f'{column:>{WIDTH}}' for column in columns)}")
    for name, budget in figures["budgets"].items():
        rates = "".join(f"{budget[key]:>{WIDTH}.0f}" for key in ("replies_per_second", "slowest", "fastest", "refused"))
        used = "".join(f"{budget[key]:>{WIDTH}.2f}" for key in ("cpu_ms_of_python", "cpu_ms_of_postgresql"))
        print(f"  {name:<18}{rates}{used}")
    large = figures["budgets"]["a large budget"]["replies_per_second"]
    print("\nwith a large budget:", verdict(large, at_least=LEAST_REPLIES))
    print("sums that are not the ledger's:", figures["wrong_sums"])


def main() -> None:
    parser = arguments_for("Count the replies a second that the sums of a site let through.")
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sums-alone", action="store_true", help="write the row of the ledger by a plain INSERT")
    parser.add_argument("--without-waiting", action="store_true", help="commit without waiting for the disk")
    arguments = parser.parse_args()
    figures = measure(
        connections=arguments.connections,
        seconds=arguments.seconds,
        rounds=arguments.rounds,
        waiting=not arguments.without_waiting,
        sums_alone=arguments.sums_alone,
    )
    report(figures)
    write_json(figures, arguments.json)


if __name__ == "__main__":
    main()
