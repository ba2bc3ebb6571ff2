"""What a page of 100,000 messages asks of the server, beside one of 40: its end, a place in it, its map.

All take turns; figures are medians. They are the statements and the making of values, without templates: what does not
depend on the length.

    python -m tests.benchmarks.long_thread [--json FILE]
"""

from __future__ import annotations

from tests.benchmarks._figures import Figures, run_benchmark, verdict
from tests.benchmarks._site import temporary_site
from tests.benchmarks._turns import Work, take_turns

SIZES = 40, 100_000
ROUNDS = 30
WARM_UP_ROUNDS = 3
LANGUAGE_MODEL = "fake context_window=8192 reply_reserve=1024 encoding=o200k_base"
WITHIN_SHORT = 1.5
MAP_WITHIN_MS = 100.0


def measure() -> Figures:
    with temporary_site(OPENAI_BASE_URL="http://127.0.0.1:9/v1", LANGUAGE_MODELS=LANGUAGE_MODEL):
        return {"rounds": ROUNDS, "works": _works()}


def _works() -> dict[str, dict[int, float]]:
    from conversations.models import Conversation
    from conversations.selectors.conversations.conversation_map import conversation_map
    from conversations.selectors.conversations.thread import thread_page, thread_page_around
    from conversations.selectors.conversations.window_coverage import Coverage
    from tests.benchmarks._long_conversations import make_conversations

    conversations = {
        size: Conversation.objects.select_related("owner").get(pk=made.id)
        for size, made in make_conversations(SIZES).items()
    }
    taken: dict[str, dict[int, float]] = {}
    kinds = {
        "end": lambda conversation, size: thread_page(conversation),
        "place": lambda conversation, size: thread_page_around(conversation, size // 2),
        "map": lambda conversation, size: conversation_map(conversation, Coverage(first_position=size - 20)),
    }
    for kind, work in kinds.items():
        works: dict[str, Work] = {
            str(size): (lambda work=work, size=size: work(conversations[size], size)) for size in SIZES
        }
        times = take_turns(works, rounds=ROUNDS, warm_up_rounds=WARM_UP_ROUNDS)
        taken[kind] = {size: times[str(size)].wall_us for size in SIZES}
    return taken


def report(result: Figures) -> None:
    short, long = SIZES
    print(f"milliseconds, medians of {result['rounds']} rounds; {short} and {long:,} messages")
    works = result["works"]
    for kind, times in works.items():
        print(f"{kind:>6} {times[short] / 1e3:>8.1f} {times[long] / 1e3:>8.1f}")
    for kind in ("end", "place"):
        print(f"{kind}, long : short", verdict(works[kind][long] / works[kind][short], at_most=WITHIN_SHORT))
    print("map of the long one, ms", verdict(works["map"][long] / 1e3, at_most=MAP_WITHIN_MS))


if __name__ == "__main__":
    run_benchmark(__doc__.splitlines()[0], measure, report)
