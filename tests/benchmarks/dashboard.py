"""What figures cost at a million completions, beside a plain aggregate over the same rows of the ledger.

    plain = SELECT count(*), sum(cost_usd), sum(input_tokens) … FROM the ledger's rows of the same days

Each is asked several times in turn, and divided by the plain aggregate of the same turn, so that what else the machine
does is in both; none is given parallel workers, of which a busy machine has none to spare. Asked are the dashboard's
figures from the ledger itself, the same from its sums, and whole pages, with how many queries each of them takes. Of
the ratios, as of the times, the median is told.

    python -m tests.benchmarks.dashboard [--completions 1000000] [--conversations 100000] [--json FILE]
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from operator import truediv
from typing import Any

from tests.benchmarks._figures import Figures, arguments_for, verdict, write_json
from tests.benchmarks._site import temporary_site

ROUNDS = 5
DAYS = {"a year": 365, "30 days": 30}
ONE_PROCESS_EACH = {"PGOPTIONS": "-c max_parallel_workers_per_gather=0"}
MOST_FROM_LEDGER = 2.0
MOST_FROM_SUMS = 0.2
PLAIN = """
SELECT count(*), sum(cost_usd), sum(input_tokens), sum(cached_input_tokens), sum(output_tokens)
FROM conversations_completion WHERE created_at >= %(begin)s AND created_at < %(end)s
"""


def measure(*, completions: int, conversations: int) -> Figures:
    with temporary_site(**ONE_PROCESS_EACH):
        from tests.benchmarks import _ledger

        began = time.monotonic()
        _ledger.fill(completions=completions, conversations=conversations)
        return {
            "completions": completions,
            "conversations": conversations,
            "filled_in_seconds": time.monotonic() - began,
            "periods": {name: figures_of(days) for name, days in DAYS.items()},
        }


def figures_of(days: int) -> Figures:
    """Return milliseconds and queries of each way to read the figures of the last *days*."""
    ways = ways_to_read(days)
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(1 + ROUNDS):
        for name, read in ways.items():
            seconds[name].append(seconds_of(read))
    return {
        name: {
            "milliseconds": 1000 * statistics.median(values[1:]),
            "to_plain": statistics.median(map(truediv, values[1:], seconds["plain"][1:])),
            "queries": queries_of(ways[name]),
        }
        for name, values in seconds.items()
    }


def ways_to_read(days: int) -> dict[str, Callable[[], Any]]:
    """Return name → what reads the figures of the last *days*, or a page of them."""
    import datetime as dt

    from django.db import connection
    from django.db.models import Count
    from django.utils import timezone

    from conversations.models import LedgerSum
    from conversations.selectors.figures.figures import read_figures
    from conversations.selectors.figures.period import Period
    from conversations.services.ledger.ledger_sums import AS_LEDGER_SUMS

    today = timezone.now().date()
    period = Period(today - dt.timedelta(days=days - 1), today, dt.UTC)
    ledger = f"""(
      {AS_LEDGER_SUMS} FROM conversations_completion AS completion
      WHERE completion.ended_at IS NOT NULL AND created_at >= %(begin)s AND created_at < %(end)s
    )"""

    def plain() -> None:
        with connection.cursor() as cursor:
            cursor.execute(PLAIN, {"begin": period.begin, "end": period.end})
            cursor.fetchall()

    busiest = LedgerSum.objects.values("user").annotate(count=Count("pk")).order_by("-count").first()["user"]
    return {
        "plain": plain,
        "figures from the ledger": lambda: read_figures(period, source=ledger),
        "figures from its sums": lambda: read_figures(period),
        **pages(period, busiest),
    }


def pages(period: Any, user_id: int) -> dict[str, Callable[[], Any]]:
    """Return the pages that an admin opens first, and those of the person who has used most."""
    from django.test import Client

    from chatsite.accounts.models import User

    query = f"?from={period.first}&to={period.last}"

    def browser(user: User) -> Callable[[str], Callable[[], None]]:
        client = Client(SERVER_NAME="localhost")
        client.force_login(user, backend="allauth.account.auth_backends.AuthenticationBackend")
        return lambda path: lambda: open_page(client, path)

    ada = User.objects.filter(role="admin").first() or User.objects.create_user("ada@example.org", role="admin")
    admin, person = browser(ada), browser(User.objects.get(pk=user_id))
    return {
        "dashboard": admin(f"/admin/{query}"),
        "admin's conversations": admin("/admin/conversations/conversation/"),
        "own usage": person(f"/usage/{query}"),
        "own conversations": person("/"),
    }


def open_page(client: Any, path: str) -> None:
    response = client.get(path)
    if response.status_code != 200:
        raise RuntimeError(f"{path} answered {response.status_code}")


def seconds_of(read: Callable[[], Any]) -> float:
    began = time.perf_counter()
    read()
    return time.perf_counter() - began


def queries_of(read: Callable[[], Any]) -> int:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as queries:
        read()
    return len(queries)


def report(figures: Figures) -> None:
    print(f"{figures['completions']:,} completions of {figures['conversations']:,} conversations")
    for period, ways in figures["periods"].items():
        print(f"\n{period:<28}{'ms':>10}{'to plain':>10}{'queries':>9}")
        for name, way in ways.items():
            print(f"  {name:<26}{way['milliseconds']:>10.1f}{way['to_plain']:>10.2f}{way['queries']:>9}")
        print("  from the ledger:", verdict(ways["figures from the ledger"]["to_plain"], at_most=MOST_FROM_LEDGER))
        print("  from its sums:  ", verdict(ways["figures from its sums"]["to_plain"], at_most=MOST_FROM_SUMS))


def main() -> None:
    parser = arguments_for("Compare the dashboard's figures with a plain aggregate over the same rows.")
    parser.add_argument("--completions", type=int, default=1_000_000)
    parser.add_argument("--conversations", type=int, default=100_000)
    arguments = parser.parse_args()
    figures = measure(completions=arguments.completions, conversations=arguments.conversations)
    report(figures)
    write_json(figures, arguments.json)


if __name__ == "__main__":
    main()
