"""A summary whose model fails in every way: what is lost, who waits, and what it costs, over many slides.

One conversation goes on with a small window. After each slide of it the summary is to be written by the fake provider,
in turn by a model that does it, fails, answers nothing, answers 100,000 tokens, answers in another language, is slow,
is above the time limit, is cut off in each way, is stopped in the middle, dies, or may spend nothing any more. Its
prompts are made and compared as they would be sent; only summaries are asked of the provider. Between two attempts
nothing is waited for, and the hour of a slow model is an answer whose end is held back until people have asked on for a
whole slide: a request that waited for it would wait for ever, and be counted.

    messages lost to the index   whose passages or postings differ from a recount of the conversation
    requests delayed             that did not come to their end while a summary was being written
    changes of the beginning     prompts that do not begin as all but the newest message of the one before
    most that it may cost        slides × attempts × the largest request of the writer at its highest price

    python -m tests.benchmarks.summary [--slides N] [--json FILE]
"""

from __future__ import annotations

from tests.benchmarks._figures import Figures, arguments_for, write_json
from tests.benchmarks._site import temporary_site
from tests.support.upstream import serve_upstream

SLIDES = 1_000
NONE_OF = (
    "messages_lost_to_the_index",
    "requests_delayed",
    "requests_above_their_reservation",
    "requests_never_settled",
    "reservations_left",
)


def measure(slides: int) -> Figures:
    with serve_upstream() as upstream, temporary_site(OPENAI_BASE_URL=upstream.base_url, OPENAI_API_KEY="sk-test"):
        from django.conf import settings

        from tests.benchmarks._faulty_summaries import measure_faults

        return measure_faults(settings, upstream, slides=slides)


def missed(result: Figures) -> list[str]:
    """Return what is not as it has to be."""
    found = [name for name in NONE_OF if result[name]]
    if result["spent_usd"] > min(result["reserved_usd"], result["most_usd"]):
        found.append("spent_usd")
    if result["prefix_changes"] > result["slides"] + 1:  # one for the first version
        found.append("prefix_changes")
    for name, seen in result["by_fault"].items():
        if seen["previous_kept"] < seen["slides"] or seen["too_many_attempts"] or seen["told_otherwise"]:
            found.append(name)
    return found


def report(result: Figures) -> None:
    print("{slides:,} slides, {messages:,} messages, {requests:,} requests".format(**result))
    for name in NONE_OF:
        print(f"{name.replace('_', ' '):<36} {result[name]:>8,} (goal: 0)")
    print(f"{'requests while a summary was held':<36} {result['requests_while_a_summary_was_held']:>8,}")
    for name, took in result["request_ms"].items():
        print(f"{'ms of a request ' + name.replace('_', ' '):<48} {took}")
    print(f"{'changes of the beginning per slide':<36} {result['prefix_changes'] / result['slides']:>8.3f} (goal: 1)")
    print(
        "${spent_usd:.4f} spent by {summary_requests:,} requests for summaries; ${reserved_usd:.4f} were reserved for "
        "them, ${most_usd:.4f} is the most that it may cost".format(**result)
    )
    print("{versions_written:,} versions written, {versions_stored} stored".format(**result))
    for name, seen in result["by_fault"].items():
        print(
            f"  {name:<30} {seen['slides']:>5,} slides {seen['attempts']:>6,} attempts {seen['new_version']:>5,} new "
            f"versions {seen['previous_kept']:>5,} times all before kept"
        )
    print(f"missed: {', '.join(found)}" if (found := missed(result)) else "all as it has to be")


def main() -> None:
    parser = arguments_for(__doc__.splitlines()[0])
    parser.add_argument("--slides", type=int, default=SLIDES, metavar="N", help="of the window (%(default)s)")
    arguments = parser.parse_args()
    if arguments.slides < 1:
        parser.error("--slides must be at least 1")
    result = measure(arguments.slides)
    report(result)
    write_json(result, arguments.json)


if __name__ == "__main__":
    main()
