"""Rendering while a reply streams, and the growth of its time with hostile text.

Prints, of one run: the CPU time for a reply in 4-character deltas when each finished block is rendered
once, against rendering the whole message at every 20th delta (scaled to every delta); and the growth
exponent of the worst inputs as they double (1 = linear, 2 = quadratic). With `--before`, only the CPU time
of a reply of 600 tokens in the code of another checkout, against that here, in turns.

    python -m tests.benchmarks.rendering [--json FILE] [--before CHECKOUT]
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from django.conf import settings

from conversations.rendering import BlockStream, render_markdown
from conversations.rendering import block_stream as stream
from tests.benchmarks._provider import markdown_tokens
from tests.rendering.replies import REPLIES

HERE = Path(__file__).parents[2]
TURNS = 12
DELTA_CHARACTERS = 4
WHOLE_EVERY = 20
SIZES = (25_000, 50_000, 100_000, 200_000)

CASES: dict[str, Callable[[int], str]] = {
    "ordinary replies": lambda size: ("\n\n".join(REPLIES) + "\n\n") * (size // 6_000),
    "one long fence": lambda size: "```\n" + "x = 1\n\n" * (size // 7) + "```\n",
    "one loose list": lambda size: "- item\n\n" * (size // 8),
    "one paragraph": lambda size: "word *word*\n" * (size // 12),
    "lists and headings": lambda size: "- a\n\n# b\n" * (size // 10),
    "paragraphs of brackets": lambda size: ("[" * 15_000 + "\n\n") * (size // 15_000),
    "paragraphs of emphasis": lambda size: ("*a_ " * 3_750 + "\n\n") * (size // 15_000),
    "formulas": lambda size: ("$a_1$ " * 2_500 + "\n\n") * (size // 15_000),
    "new lines": lambda size: "\n" * size,
    "one line": lambda size: "a" * size,
}


def cpu_seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def deltas_of(text: str) -> list[str]:
    return [text[at : at + DELTA_CHARACTERS] for at in range(0, len(text), DELTA_CHARACTERS)]


def render_blocks_once(text: str) -> None:
    blocks = BlockStream()
    for delta in deltas_of(text):
        blocks.feed(delta)
    blocks.finish()


def render_whole_sometimes(text: str) -> None:
    for end in range(0, len(text), DELTA_CHARACTERS * WHOLE_EVERY):
        render_markdown(text[:end])


def compare_streaming() -> dict[str, float]:
    """Return microseconds per delta both ways, and their ratio, for a reply of about 8,000 characters."""
    text = "\n\n".join(REPLIES[:5])[:4_000] * 2
    deltas = len(deltas_of(text))
    once = cpu_seconds(lambda: render_blocks_once(text)) / deltas
    whole = cpu_seconds(lambda: render_whole_sometimes(text)) * WHOLE_EVERY / deltas
    return {"once_us": once * 1e6, "whole_us": whole * 1e6, "ratio": whole / once}


RENDER_REPLIES = """
import json, sys, time
from django.conf import settings
settings.configure()
from conversations.rendering import BlockStream, formulas
forget = getattr(getattr(formulas, "_to_kept_mathml", None), "cache_clear", lambda: None)
lines = json.load(sys.stdin)
def render(is_first):
    if is_first:
        forget()
    blocks, started = BlockStream(), time.process_time()
    for line in lines:
        blocks.feed(line)
    blocks.finish()
    return time.process_time() - started
for _ in range(10):
    render(False)
print(json.dumps([min(render(is_first) for _ in range(40)) for is_first in (True, False)]))
"""


def compare_checkouts(before: Path) -> dict[str, dict[str, float]]:
    """Return the milliseconds of a reply in either checkout, and their ratio, medians of turns.

    The first reply of a process has no formulas that it could know; the same one again has all of them.
    """
    seconds = [(reply_seconds(before), reply_seconds(HERE)) for _ in range(TURNS)]
    result = {}
    for index, name in enumerate(("first", "again")):
        old, new = (statistics.median(turn[index] for turn in side) for side in zip(*seconds, strict=True))
        result[name] = {"before_ms": old * 1e3, "here_ms": new * 1e3, "ratio": old / new}
    return result


def reply_seconds(checkout: Path) -> list[float]:
    """Return the CPU seconds of a reply as the first one and again, the best of forty each, with that code."""
    lines = "".join(markdown_tokens(600)).splitlines(keepends=True)
    command = [sys.executable, "-c", RENDER_REPLIES]
    child = subprocess.run(command, cwd=checkout, input=json.dumps(lines), capture_output=True, text=True, check=True)
    return json.loads(child.stdout)


def growth_exponent(make: Callable[[int], str]) -> dict[str, float]:
    """Return the slope of log time over log size, of the last three sizes, and the time per 100 KB."""
    seconds = [cpu_seconds(partial(render_blocks_once, make(size))) for size in SIZES]
    exponent = math.log(seconds[-1] / seconds[1]) / math.log(SIZES[-1] / SIZES[1])
    return {"exponent": exponent, "ms_per_100_kb": seconds[-1] * 1e3 * 100_000 / SIZES[-1]}


def measure() -> dict[str, object]:
    stream.MAX_CPU_SECONDS = math.inf  # the limit would flatten the curve
    render_markdown("\n\n".join(REPLIES))  # load the lexers first
    return {
        "streaming": compare_streaming(),
        "growth": {name: growth_exponent(make) for name, make in CASES.items()},
    }


def report(result: dict[str, dict]) -> None:
    streaming = result["streaming"]
    print("streaming: {once_us:.0f} µs a delta, whole message {whole_us:.0f} µs".format(**streaming))
    print("           whole message : each block once = {ratio:.0f} : 1".format(**streaming))
    for name, growth in result["growth"].items():
        print(f"{name:24} exponent {growth['exponent']:.2f}  {growth['ms_per_100_kb']:6.0f} ms per 100 KB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--before", type=Path, metavar="CHECKOUT", help="compare with the code of another checkout")
    arguments = parser.parse_args()
    if arguments.before:
        for name, figures in compare_checkouts(arguments.before).items():
            print(
                "{name:5} {before_ms:.2f} ms before, {here_ms:.2f} here: {ratio:.2f} : 1".format(name=name, **figures)
            )
        return
    if not settings.configured:
        settings.configure()
    result = measure()
    report(result)
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
