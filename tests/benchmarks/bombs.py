"""What hostile documents cost: memory and seconds of the child that reads each, memory of its parent, and the answer.

python -m tests.benchmarks.bombs [--json FILE]
"""

import argparse
import asyncio
import json
import os
import time
from contextlib import aclosing
from pathlib import Path
from typing import Any

import psutil

from conversations.core.errors import DocumentError
from conversations.parsing import ParsedPassage, ParsingLimits, parse_document
from tests.parsing.bombs import BOMBS, LARGE_BOMBS, MEGABYTE, Bomb

LIMITS = ParsingLimits(seconds=60, memory_megabytes=1024)
LOOK_EVERY_SECONDS = 0.01


class Watch:
    """The most memory that this process and its children have been seen with, in bytes."""

    def __init__(self) -> None:
        self.parent = psutil.Process(os.getpid())
        self.before = self.parent.memory_info().rss
        self.own = self.children = 0

    async def look(self) -> None:
        while True:
            self.own = max(self.own, self.parent.memory_info().rss - self.before)
            for child in self.parent.children():
                try:
                    self.children = max(self.children, child.memory_info().rss)
                except psutil.NoSuchProcess:
                    continue
            await asyncio.sleep(LOOK_EVERY_SECONDS)


async def measure(bomb: Bomb) -> dict[str, Any]:
    content = bomb.make()
    watch = Watch()
    looking = asyncio.create_task(watch.look())
    started = time.monotonic()
    answer, passages = "read", 0
    try:
        async with aclosing(parse_document(content, name=bomb.name, encoding="o200k_base", limits=LIMITS)) as parsed:
            async for piece in parsed:
                passages += isinstance(piece, ParsedPassage)
    except DocumentError as error:
        answer = error.code
    seconds = time.monotonic() - started
    looking.cancel()
    return {
        "bomb": bomb.name,
        "file_kb": len(content) / 1024,
        "seconds": seconds,
        "child_mb": watch.children / MEGABYTE,
        "parent_mb_more": max(watch.own, 0) / MEGABYTE,
        "passages": passages,
        "answer": answer,
    }


def show(row: dict[str, Any]) -> None:
    print(
        f"{row['bomb']:<28}{row['file_kb']:>10,.0f}{row['seconds']:>9.2f}{row['child_mb']:>10,.0f}"
        f"{row['parent_mb_more']:>11,.0f}{row['passages']:>10,}  {row['answer']}"
    )


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    print(f"{'':<28}{'file KB':>10}{'seconds':>9}{'child MB':>10}{'parent +MB':>11}{'passages':>10}  answer")
    rows = []
    for bomb in BOMBS + LARGE_BOMBS:
        rows.append(await measure(bomb))
        show(rows[-1])
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2))


if __name__ == "__main__":
    asyncio.run(main())
