"""The window from the database at 100 to 100,000 messages, against one indexed query for the same rows.

Every conversation is longer than the budget and ends with the same messages: all windows hold the same rows, and only
the length behind them differs. A round times the window and the query of each conversation, one after the other; the
figures are medians of all rounds.

    python -m tests.benchmarks.window [--json FILE]
"""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterable

from tests.benchmarks._figures import Figures, run_benchmark, verdict
from tests.benchmarks._site import temporary_site

SIZES = (100, 1_000, 10_000, 100_000)
ROUNDS = 300
WARM_UP_ROUNDS = 20
FLAT_WITHIN = 1.3
WITHIN_QUERIES = 3.0
LANGUAGE_MODEL = "fake context_window=8192 reply_reserve=1024 encoding=o200k_base"

Works = dict[tuple[str, int], Callable[[], object]]  # by what it does and the conversation's size


def measure() -> Figures:
    with temporary_site(OPENAI_BASE_URL="http://127.0.0.1:9/v1", LANGUAGE_MODELS=LANGUAGE_MODEL):
        from tests.benchmarks._long_conversations import make_conversations

        conversations = make_conversations(SIZES)
        windows = [conversation.window() for conversation in conversations.values()]
        messages = len(windows[0].record.entries) - 1
        assert all(window.prompt == windows[0].prompt for window in windows), "the windows differ"
        works: Works = {}
        for size, conversation in conversations.items():
            works["window", size] = conversation.window
            works["query", size] = lambda conversation=conversation: conversation.rows(messages)
        return figures(medians_us(works), messages=messages)


def medians_us(works: Works) -> dict[tuple[str, int], float]:
    """Return the median microseconds of each work. They take turns, so that the machine's moods hit all alike."""
    for _ in range(WARM_UP_ROUNDS):
        for work in works.values():
            work()
    times = defaultdict(list)
    for _ in range(ROUNDS):
        for name, work in works.items():
            times[name].append(microseconds(work))
    return {name: statistics.median(taken) for name, taken in times.items()}


def microseconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1e6


def figures(medians: dict[tuple[str, int], float], *, messages: int) -> Figures:
    by_size = {
        size: {
            "window_us": medians["window", size],
            "query_us": medians["query", size],
            "window_to_query": medians["window", size] / medians["query", size],
        }
        for size in SIZES
    }
    return {
        "rounds": ROUNDS,
        "messages_in_window": messages,
        "by_size": by_size,
        "longest_to_shortest": by_size[SIZES[-1]]["window_us"] / by_size[SIZES[0]]["window_us"],
        "slowest_to_fastest": spread(row["window_us"] for row in by_size.values()),
        "most_queries": max(row["window_to_query"] for row in by_size.values()),
    }


def spread(values: Iterable[float]) -> float:
    ordered = sorted(values)
    return ordered[-1] / ordered[0]


def report(result: Figures) -> None:
    print(f"{result['messages_in_window']} older messages in every window, medians of {result['rounds']} rounds")
    print(f"{'messages':>10} {'window':>10} {'one query':>10} {'ratio':>6}")
    for size, row in result["by_size"].items():
        print(f"{size:>10,} {row['window_us']:>7.0f} µs {row['query_us']:>7.0f} µs {row['window_to_query']:>6.2f}")
    print("slowest : fastest window ", verdict(result["slowest_to_fastest"], at_most=FLAT_WITHIN))
    print("window : one query       ", verdict(result["most_queries"], at_most=WITHIN_QUERIES))


if __name__ == "__main__":
    run_benchmark(__doc__.splitlines()[0], measure, report)
