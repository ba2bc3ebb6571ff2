"""The fake provider with two models more: `markdown-N-MS` streams N tokens of Markdown, MS milliseconds before each.

`flood-N` streams N tokens in pieces of 64 kB, as fast as they are read: to make them takes it no time.

python -m tests.benchmarks._provider
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re

from tests.rendering.replies import REPLIES
from tests.support.upstream import fault, listen, make_server
from tests.support.upstream_answer import Answer

PIECE_BYTES = 65_536
TOKEN = re.compile(r"\s?\S{1,8}|\s+")  # about five characters, as the tokens of a language model
TOKENS = TOKEN.findall("\n\n".join(REPLIES) + "\n\n")


def markdown_tokens(count: int) -> list[str]:
    """Return the texts of the chunks of a reply of *count* tokens."""
    return list(itertools.islice(itertools.cycle(TOKENS), count))


@fault("markdown-N-N")
async def markdown(answer: Answer, count: int, milliseconds: int) -> None:
    await answer.head()
    for text in markdown_tokens(count):
        await asyncio.sleep(milliseconds / 1000)
        await answer.chunk({"content": text})
    await answer.finish()


@fault("flood-N")
async def flood(answer: Answer, count: int) -> None:
    await answer.head()
    line = f"data: {json.dumps(answer.chunk_json({'content': ' word'}))}\n\n".encode()
    for start in range(0, count, lines := PIECE_BYTES // len(line)):
        await answer.raw(line * min(lines, count - start))
    await answer.finish()


if __name__ == "__main__":
    listener = listen()
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/v1", flush=True)
    make_server().run(sockets=[listener])
