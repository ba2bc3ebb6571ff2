"""The window from the database at 100 to 1,000,000 messages, against one indexed query for the same rows, and peers.

Every conversation is longer than the budget and ends with the same messages: all windows hold the same rows, and only
the length behind them differs. Each has its anchor from the window before, as it has from its second reply on. The
window is made as for a request, by `build_window`; figures are medians of rounds in which all take turns.

The peers trim the same history to the same budget, counted by the same function, and must find the messages that the
product's window has without steps. Who is not done after a minute is said not to have finished, and is not asked about
longer conversations. Their turns are long, and leave cold caches behind: ours take longer among them than alone.

    python -m tests.benchmarks.window [--json FILE]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tests.benchmarks._figures import Figures, run_benchmark, verdict
from tests.benchmarks._site import temporary_site
from tests.benchmarks._turns import Taken, Work, take_turns, take_turns_within

if TYPE_CHECKING:
    from tests.benchmarks._long_conversations import LongConversation

SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)
ROUNDS = 1_000
WARM_UP_ROUNDS = 50
PEER_ROUNDS = 5
PEER_SECONDS = 60.0
FLAT_WITHIN = 1.2
WITHIN_QUERIES = 2.0
LANGUAGE_MODEL = "fake context_window=8192 reply_reserve=1024 encoding=o200k_base"
OURS = "Windowseat"

Conversations = Mapping[int, "LongConversation"]
Medians = Mapping[tuple[str, int], Taken]  # by what was done and the conversation's size
PeerFigures = dict[int, dict[str, Taken | None]]  # by size and name; None has not finished


def measure() -> Figures:
    with temporary_site(OPENAI_BASE_URL="http://127.0.0.1:9/v1", LANGUAGE_MODELS=LANGUAGE_MODEL):
        from tests.benchmarks._long_conversations import make_conversations

        conversations = make_conversations(SIZES)
        windows = [conversation.window() for conversation in conversations.values()]
        assert all(window.prompt == windows[0].prompt for window in windows), "the windows differ"
        messages = sum(entry.kind == "older" for entry in windows[0].record.entries)
        works: dict[tuple[str, int], Work] = {}
        for size, conversation in conversations.items():
            works["window", size] = conversation.window
            works["query", size] = lambda conversation=conversation: conversation.rows(messages)
        medians = take_turns(works, rounds=ROUNDS, warm_up_rounds=WARM_UP_ROUNDS)
        return figures(medians, compare(conversations), messages=messages)


def compare(conversations: Conversations, *, seconds: float = PEER_SECONDS) -> PeerFigures:
    """Return what our window and each peer's took, shortest conversation first; nothing if there are no peers."""
    from tests.benchmarks._peers import installed_peers

    makers, compared = installed_peers(), {}
    for size, conversation in conversations.items():
        if not makers:
            break
        asked = conversation.asked()
        peers = {name: make(asked) for name, make in makers.items()}
        if not compared:
            check_they_agree(conversation, peers)
        works = {OURS: conversation.window, **peers}
        compared[size] = take_turns_within(works, rounds=PEER_ROUNDS, seconds=seconds)
        makers = {name: make for name, make in makers.items() if compared[size][name]}
    return compared


def check_they_agree(conversation: LongConversation, peers: Mapping[str, Work]) -> None:
    fullest = [message.content for message in conversation.fullest_window().prompt]
    for name, peer in peers.items():
        assert peer() == fullest, f"{name} was not asked for the same window"


def figures(medians: Medians, compared: PeerFigures, *, messages: int) -> Figures:
    sizes = sorted({size for _, size in medians})
    by_size = {size: row(medians["window", size], medians["query", size]) for size in sizes}
    windows = [row["window_us"] for row in by_size.values()]
    return {
        "rounds": ROUNDS,
        "messages_in_window": messages,
        "by_size": by_size,
        "longest_to_shortest": windows[-1] / windows[0],
        "slowest_to_fastest": max(windows) / min(windows),
        "most_queries": max(row["window_to_query"] for row in by_size.values()),
        "peers": {size: {name: peer_row(taken) for name, taken in row.items()} for size, row in compared.items()},
    }


def row(window: Taken, query: Taken) -> dict[str, float]:
    return {
        "window_us": window.wall_us,
        "window_cpu_us": window.cpu_us,
        "query_us": query.wall_us,
        "query_cpu_us": query.cpu_us,
        "window_to_query": window.wall_us / query.wall_us,
    }


def peer_row(taken: Taken | None) -> dict[str, Any]:
    if taken is None:
        return {"finished": False, "given_seconds": PEER_SECONDS}
    return {"finished": True, "wall_us": taken.wall_us, "cpu_us": taken.cpu_us}


def report(result: Figures) -> None:
    print(f"{result['messages_in_window']} older messages in every window, medians of {result['rounds']} rounds")
    print(f"{'messages':>10} {'window':>10} {'its CPU':>10} {'one query':>10} {'ratio':>6}")
    for size, row in result["by_size"].items():
        print(
            f"{size:>10,} {row['window_us']:>7.0f} µs {row['window_cpu_us']:>7.0f} µs"
            f" {row['query_us']:>7.0f} µs {row['window_to_query']:>6.2f}"
        )
    print("slowest : fastest window ", verdict(result["slowest_to_fastest"], at_most=FLAT_WITHIN))
    print("window : one query       ", verdict(result["most_queries"], at_most=WITHIN_QUERIES))
    print()
    print("\n".join(peer_lines(result["peers"])))


def peer_lines(peers: Mapping[int, Mapping[str, Mapping[str, Any]]]) -> Iterable[str]:
    from tests.benchmarks._peers import HOW_TO_INSTALL

    if not peers:
        return [HOW_TO_INSTALL]
    names = list(next(iter(peers.values())))
    return [
        f"CPU time per request, medians of at most {PEER_ROUNDS} turns, of {PEER_SECONDS:.0f} s in all",
        "".join([f"{'messages':>10}", *(f"{name:>14}" for name in names)]),
        *(f"{size:>10,}" + "".join(f"{peer_cell(row.get(name)):>14}" for name in names) for size, row in peers.items()),
    ]


def peer_cell(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return "not asked"
    return f"{row['cpu_us'] / 1e3:,.2f} ms" if row["finished"] else "not finished"


if __name__ == "__main__":
    run_benchmark(__doc__.splitlines()[0], measure, report)
