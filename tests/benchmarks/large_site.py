"""What pages, searches, windows and recall take on a site of a million conversations, beside one of a thousand.

Two sites of their own stand beside each other, each with its PostgreSQL: a small one and a large one, with ten messages
in each conversation (`_large_site`). The same is asked of both in turn, so that what else the machine does is in both,
and each ratio is that of two medians. An ordinary person has the same conversations on both; the busiest has a tenth of
all, so what they are asked about grows with the site, and no goal is set for it.

The index of messages takes about 20 kB a conversation: of the others' only one in `--index-every` is in it, on both.

    python -m tests.benchmarks.large_site [--small 1000] [--large 1000000] [--index-every 10] [--rounds 100]
      [--explain FOLDER] [--json FILE]
"""

from __future__ import annotations

import datetime as dt
import logging
import multiprocessing
import statistics
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tests.benchmarks._figures import Figures, arguments_for, percentile, verdict, write_json
from tests.benchmarks._site import temporary_site

GOAL = 1.5
WARM_UP_ROUNDS = 10
ENDING_SECONDS = 120  # to remove a folder of 25 GB
LANGUAGE_MODEL = "fake context_window=8192 reply_reserve=1024 encoding=o200k_base"
SITES = ("small", "large")
ORDINARY, BUSIEST, ADMIN = "an ordinary person", "the busiest person", "an admin"
ASKED_CONVERSATIONS = 20
# By the rank of words: the most frequent is in nearly every message, the last in one of some thousand.
QUERIES = {"common word": (20,), "rare word": (6_000,), "two words": (60, 300)}
TABLES = {
    "messages": "conversations_message",
    "passages": "conversations_messagepassage",
    "postings": "conversations_messagepostings",
    "requests": "conversations_completion",
    "sums": "conversations_ledgersum",
}

Ask = Callable[[int], object]  # with the number of the round


def measure(*, small: int, large: int, index_every: int, rounds: int, explain: Path | None) -> Figures:
    with site_process(small, index_every) as ask_small, site_process(large, index_every) as ask_large:
        sites = dict(zip(SITES, (ask_small, ask_large), strict=True))
        figures: Figures = {"rounds": rounds, "index_every": index_every}
        for name, ask in sites.items():
            figures[name] = ask("describe")
        names = ask_small("names")
        taken: dict[str, dict[str, list[float]]] = {name: {site: [] for site in SITES} for name in names}
        for number in range(WARM_UP_ROUNDS + rounds):
            for name in names:
                for site in SITES if number % 2 else reversed(SITES):
                    seconds = sites[site]("time", name, number)
                    if number >= WARM_UP_ROUNDS:
                        taken[name][site].append(seconds)
        figures["asked"] = {name: compare(**times) for name, times in taken.items()}
        if explain:
            explain.mkdir(parents=True, exist_ok=True)
            for name in names:
                for site in SITES:
                    file = explain / f"{name.replace(' ', '-').replace(':', '')}.{site}.txt"
                    file.write_text(sites[site]("explain", name), encoding="utf-8")
        return figures


def compare(small: list[float], large: list[float]) -> Figures:
    """Return medians and 95th percentiles in milliseconds, and the ratio of the medians."""
    figures: Figures = {"ratio": statistics.median(large) / statistics.median(small)}
    for site, seconds in zip(SITES, (small, large), strict=True):
        figures[f"{site}_ms"] = 1_000 * statistics.median(seconds)
        figures[f"{site}_p95_ms"] = 1_000 * percentile(seconds, 0.95)
    return figures


@contextmanager
def site_process(conversations: int, index_every: int) -> Iterator[Callable[..., Any]]:
    """Make a site in a process of its own; yield what asks it, and remove it at the end."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve_site, args=(theirs, conversations, index_every))
    process.start()
    theirs.close()

    def ask(*asked: object) -> Any:
        ours.send(asked)
        answer, error = ours.recv()
        if error:
            raise RuntimeError(f"the site of {conversations:,} conversations failed:\n{error}")
        return answer

    try:
        print(f"{ask('ready')}", flush=True)
        yield ask
    finally:
        ours.close()
        process.join(ENDING_SECONDS)
        process.terminate()  # which asks nothing of one that has ended


def serve_site(pipe: Connection, conversations: int, index_every: int) -> None:
    """Make a site, and answer what is asked about it until its pipe is closed."""
    with temporary_site(OPENAI_BASE_URL="http://127.0.0.1:9/v1", LANGUAGE_MODELS=LANGUAGE_MODEL) as postgres:
        from tests.benchmarks._large_site import fill_site, quick_writing
        from tests.benchmarks._processes import cpu_seconds

        logging.disable(logging.INFO)  # who signs in is a line of its own, whatever LOG_LEVEL is
        began = time.monotonic()
        site: MeasuredSite | None = None
        while True:
            try:
                asked, *parameters = pipe.recv()
            except EOFError:
                return
            try:
                if site is None:
                    with quick_writing():
                        people = fill_site(conversations, index_every=index_every)
                    made = {"seconds": time.monotonic() - began, "postgres_processor_seconds": cpu_seconds(postgres)}
                    site = MeasuredSite(people, conversations, made)
                pipe.send((getattr(site, asked)(*parameters), ""))
            except Exception:
                pipe.send((None, traceback.format_exc()))


class MeasuredSite:
    """A site that is filled, and what is asked of it by name."""

    def __init__(self, people: Any, conversations: int, made: Figures) -> None:
        from chatsite.accounts.models import User

        self._conversations, self._made = conversations, made
        self.asks: dict[str, Ask] = {}
        for name, person in ((ORDINARY, people.ordinary), (BUSIEST, people.busiest)):
            for what, ask in asks_of(person).items():
                self.asks[f"{name}: {what}"] = ask
        admin = browser(User.objects.create_user("admin@example.org", role="admin"))
        self.asks[f"{ADMIN}: first page"] = lambda _: admin("/admin/")
        self.asks[f"{ADMIN}: list of conversations"] = lambda _: admin("/admin/conversations/conversation/")

    def ready(self) -> str:
        return (
            f"{self._conversations:,} conversations, made in {self._made['seconds']:.0f} s, "
            f"{self._made['postgres_processor_seconds']:.0f} s of PostgreSQL's processor time"
        )

    def names(self) -> list[str]:
        return list(self.asks)

    def describe(self) -> Figures:
        """Return how much is stored."""
        from django.db import connection

        with connection.cursor() as cursor:
            rows = {
                name: cursor.execute(f"SELECT count(*), pg_total_relation_size('{table}') FROM {table}").fetchone()
                for name, table in TABLES.items()
            }
            [size] = cursor.execute("SELECT pg_database_size(current_database())").fetchone()
        return {
            "conversations": self._conversations,
            "made": self._made,
            "gigabytes": size / 1e9,
            "rows": {name: count for name, (count, _) in rows.items()},
            "table_gigabytes": {name: table_size / 1e9 for name, (_, table_size) in rows.items()},
        }

    def time(self, name: str, number: int) -> float:
        began = time.perf_counter()
        self.asks[name](number)
        return time.perf_counter() - began

    def explain(self, name: str) -> str:
        """Return the statements that it takes, the slowest first, with the plans of the slowest."""
        from django.db import connection
        from django.test.utils import CaptureQueriesContext

        with CaptureQueriesContext(connection) as captured:
            self.asks[name](WARM_UP_ROUNDS)
        queries = sorted(captured.captured_queries, key=lambda query: -float(query["time"]))
        parts = [f"{len(queries)} statements, {sum(float(query['time']) for query in queries):.3f} s"]
        for place, query in enumerate(queries):
            parts.append(f"\n{query['time']} s: {query['sql']}")
            if place < 3 and query["sql"].lstrip().startswith(("SELECT", "WITH", "(")):
                with connection.cursor() as cursor:
                    cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS) {query['sql'].replace('%', '%%')}")
                    parts += [row[0] for row in cursor.fetchall()]
        return "\n".join(parts)


def browser(user: Any) -> Callable[..., None]:
    """Return what opens a page as *user*, as the page's scripts do."""
    from django.test import Client

    client = Client(SERVER_NAME="localhost")
    client.force_login(user, backend="allauth.account.auth_backends.AuthenticationBackend")

    def open_page(path: str, **headers: str) -> None:
        response = client.get(path, headers=headers)
        if response.status_code != 200:
            raise RuntimeError(f"{path} answered {response.status_code}")

    return open_page


def asks_of(person: Any) -> dict[str, Ask]:
    """Return what is asked of a person's own conversations, by name."""
    from django.utils import timezone

    from conversations.models import Conversation
    from conversations.services.grounding.recall import recall_for
    from conversations.services.language_models.model_context import model_context
    from conversations.services.windows.build_window import build_window, draft_message
    from tests.benchmarks._large_site import MESSAGES, make_words

    words, open_page = make_words(), browser(person)
    own = Conversation.objects.filter(owner=person).select_related("owner", "scenario", "head").order_by("created_at")
    some = list(own[:: max(1, own.count() // ASKED_CONVERSATIONS)][:ASKED_CONVERSATIONS])
    question = "What did I say of {} and {}?"

    def conversation(number: int) -> Conversation:
        return some[number % len(some)]

    def compute_window(number: int) -> object:
        found = conversation(number)
        context = model_context(found.scenario)
        return build_window(found, draft_message(question.format("snow", "rain"), position=MESSAGES, context=context))

    def recall(number: int) -> object:
        text = question.format(words[100 + number], words[1_000 + number])
        return recall_for(conversation(number), text, MESSAGES, timezone.now().astimezone(dt.UTC))

    def search(ranks: tuple[int, ...]) -> Ask:
        def ask(number: int) -> None:
            typed = "+".join(words[rank + number % 10] for rank in ranks)
            open_page(f"/search/?q={typed}", **{"HX-Request": "true"})

        return ask

    return {
        "list of conversations": lambda _: open_page("/conversations/", **{"HX-Request": "true"}),
        "a conversation's page": lambda number: open_page(f"/c/{conversation(number).public_id}/"),
        **{f"search, {name}": search(ranks) for name, ranks in QUERIES.items()},
        "search, a word with a typo": lambda number: open_page(
            f"/search/?q=q{words[500 + number % 10]}", **{"HX-Request": "true"}
        ),
        "find in a conversation": lambda number: open_page(
            f"/c/{conversation(number).public_id}/find/?q={words[20 + number % 10]}"
        ),
        "a window": compute_window,
        "recall": recall,
    }


def report(figures: Figures) -> None:
    for site in SITES:
        row = figures[site]
        rows = ", ".join(
            f"{count:,} {name} ({row['table_gigabytes'][name]:.2f} GB)" for name, count in row["rows"].items()
        )
        print(
            f"{row['conversations']:,} conversations in {row['gigabytes']:.1f} GB,"
            f" made in {row['made']['seconds']:.0f} s"
        )
        print(f"  {rows}")
    print(f"\n{'medians (95 %) of ' + str(figures['rounds']):<46}{'small, ms':>18}{'large, ms':>18}  large : small")
    for name, row in figures["asked"].items():
        small, large = (f"{row[f'{site}_ms']:.1f} ({row[f'{site}_p95_ms']:.1f})" for site in SITES)
        ratio = f"{row['ratio']:.2f}" if name.startswith(BUSIEST) else verdict(row["ratio"], at_most=GOAL)
        print(f"{name:<46}{small:>18}{large:>18}  {ratio}")


def main() -> None:
    parser = arguments_for(__doc__.splitlines()[0])
    parser.add_argument("--small", type=int, default=1_000, help="conversations of the small site")
    parser.add_argument("--large", type=int, default=1_000_000, help="conversations of the large one")
    parser.add_argument(
        "--index-every", type=int, default=10, help="of the others' conversations one in so many is indexed"
    )
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--explain", type=Path, metavar="FOLDER", help="write statements and plans into files there")
    arguments = parser.parse_args()
    figures = measure(
        small=arguments.small,
        large=arguments.large,
        index_every=arguments.index_every,
        rounds=arguments.rounds,
        explain=arguments.explain,
    )
    write_json(figures, arguments.json)
    report(figures)


if __name__ == "__main__":
    main()
