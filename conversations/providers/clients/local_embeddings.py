"""The client for embeddings on this machine: a child process with the model of a folder, started when it is needed.

One question waits for a small batch of documents or messages at the most: batches take turns. A child that dies is
started again with the next request; what it was asked for fails, and may be tried again. It ends with this process,
because its standard input ends then.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Iterator, Sequence
from typing import Any

from chatsite.folders import CODE
from conversations.core.errors import MalformedEmbeddings, ProviderTimedOut, ProviderUnavailable
from conversations.core.money.usage import Usage

from .embeddings import EmbeddingRequest, Embeddings, Vector

logger = logging.getLogger(__name__)
CHILD = "conversations.providers.local_embeddings.child_process"
MOST_TEXTS_AT_ONCE = 8
MOST_CHARACTERS_AT_ONCE = 6_000  # together, unless one text alone has more
START_SECONDS = 120.0
BATCH_SECONDS = 60.0
END_SECONDS = 5.0
LONGEST_LINE_BYTES = 2**24
KEPT_OF_ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "TMPDIR")


class LocalEmbeddingClient:
    """Vectors from the model in *folder*. Belongs to one event loop."""

    def __init__(
        self, folder: str, *, start_seconds: float = START_SECONDS, batch_seconds: float = BATCH_SECONDS
    ) -> None:
        self._folder = folder
        self._start_seconds, self._batch_seconds = start_seconds, batch_seconds
        self._turn = asyncio.Lock()
        self._child: Process | None = None
        self._starting: asyncio.Task[Process] | None = None
        self._orders = 0

    async def embed(self, request: EmbeddingRequest) -> Embeddings:
        """Return the vector of each text. Raises a `CompletionError`; nothing of it is ever billed."""
        vectors: list[Vector] = []
        tokens = 0
        for texts in _small_batches(request.texts):
            async with self._turn:
                answer = await self._ask(texts)
            vectors += answer["vectors"]
            tokens += answer["tokens"]
        return Embeddings(vectors, Usage(input_tokens=tokens, output_tokens=0))

    async def aclose(self) -> None:
        """End the child."""
        if self._starting:
            self._starting.cancel()
            await asyncio.wait([self._starting])
        child, self._child = self._child, None
        if child is not None:
            await _end(child)

    async def _ask(self, texts: Sequence[str]) -> dict[str, Any]:
        child = await self._running_child()
        self._orders += 1
        order = {"id": self._orders, "texts": list(texts)}
        try:
            async with asyncio.timeout(self._batch_seconds):
                return await _exchange(child, order)
        except TimeoutError as error:
            await self.aclose()
            raise ProviderTimedOut(detail="the local embeddings model took too long") from error
        except (OSError, ValueError, EOFError) as error:
            await self.aclose()
            raise ProviderUnavailable(detail="the process of the local embeddings model has ended") from error

    async def _running_child(self) -> Process:
        """Return the child, started if need be: that takes longer than one question may wait, and goes on then."""
        if self._child is None or self._child.returncode is not None:
            if self._starting is None or self._starting.done():
                self._starting = asyncio.create_task(self._start(), name="start the embeddings model")
            self._child = await asyncio.shield(self._starting)
        return self._child

    async def _start(self) -> Process:
        try:
            child = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", CHILD, self._folder),
                stdin=PIPE,
                stdout=PIPE,
                env=_environment(),
                cwd="/",
                start_new_session=True,
                limit=LONGEST_LINE_BYTES,
            )
        except OSError as error:
            raise ProviderUnavailable(detail="the local embeddings model could not be started") from error
        try:
            async with asyncio.timeout(self._start_seconds):
                await _read(child)
        except (TimeoutError, OSError, ValueError, EOFError) as error:
            await _end(child)
            raise ProviderUnavailable(detail="the local embeddings model could not be loaded") from error
        except asyncio.CancelledError:
            await _end(child)
            raise
        return child


async def _end(child: Process) -> None:
    if child.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        child.kill()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(END_SECONDS):
            await child.wait()


async def _exchange(child: Process, order: dict[str, Any]) -> dict[str, Any]:
    """Send an order and return its answer; those of orders that were given up come before it."""
    if child.stdin is None:
        raise EOFError
    child.stdin.write(json.dumps(order).encode("ascii") + b"\n")
    await child.stdin.drain()
    while (answer := await _read(child)).get("id") != order["id"]:
        pass
    if "error" in answer or len(answer["vectors"]) != len(order["texts"]):
        raise MalformedEmbeddings(detail=f"the local embeddings model: {answer.get('error', 'too few vectors')}")
    return answer


async def _read(child: Process) -> dict[str, Any]:
    line = await child.stdout.readline() if child.stdout else b""
    if not line:
        raise EOFError
    answer: dict[str, Any] = json.loads(line)
    return answer


def _small_batches(texts: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    for text in texts:
        if batch and (len(batch) == MOST_TEXTS_AT_ONCE or sum(map(len, batch)) + len(text) > MOST_CHARACTERS_AT_ONCE):
            yield batch
            batch = []
        batch.append(text)
    if batch:
        yield batch


def _environment() -> dict[str, str]:
    """Return what the child needs: none of the site's secrets, and no more than half of the processors."""
    kept = {name: os.environ[name] for name in KEPT_OF_ENVIRONMENT if name in os.environ}
    threads = str(max(1, (os.cpu_count() or 1) // 2))
    path = os.pathsep.join(filter(None, (str(CODE), os.environ.get("PYTHONPATH"))))
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")
    return {**kept, "PYTHONPATH": path, "LC_ALL": "C.UTF-8", **dict.fromkeys(names, threads)}
