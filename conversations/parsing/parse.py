"""Parse a document in a child process. This parent starts it, feeds it, checks all that it says, and ends it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
import time
from asyncio import StreamReader, StreamWriter
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, AsyncIterator
from typing import cast

from chatsite.folders import CODE
from conversations.core.errors import DocumentDamaged, DocumentTooCostly, DocumentTooLong
from conversations.parsing.parsed import (
    MOST_CHARACTERS,
    MOST_PASSAGES,
    KindFound,
    Parsed,
    ParsedPassage,
    ParsingLimits,
    Progress,
    SkippedParts,
)
from conversations.parsing.process_protocol import LONGEST_LINE_BYTES, End, decode_line

Pipes = tuple[StreamWriter, StreamReader, StreamReader]

logger = logging.getLogger(__name__)

# -P: nothing is imported from where it runs; -B: nothing is written
COMMAND = (sys.executable, "-P", "-B", "-m", "conversations.parsing.child_process")
ENVIRONMENT = {"PYTHONPATH": str(CODE), "PYTHONIOENCODING": "utf-8", "LC_ALL": "C.UTF-8", "MALLOC_ARENA_MAX": "1"}
MOST_LOGGED_BYTES = 2_000
END_SECONDS = 5
WAIT_FACTOR = 4  # times its processor time: it gives way to every other process, and all may be busy
DEATHS_BY_COST = {-signal.SIGKILL, -signal.SIGXCPU, -signal.SIGABRT}  # a library in C aborts when memory is refused


async def parse_document(
    content: bytes, *, name: str, encoding: str, limits: ParsingLimits
) -> AsyncGenerator[Parsed, None]:
    """Parse a file in a child process: its kind first, then passages and progress, in order.

    *name* is only a hint between kinds of plain text. *encoding* is the one that tokens are counted in. Raises a
    `DocumentError`, maybe after some passages. Closing the generator ends the child.
    """
    child = await _start()
    order = {"name": name, "encoding": encoding, "seconds": limits.seconds, "memory_megabytes": limits.memory_megabytes}
    stdin, stdout, stderr = cast(Pipes, (child.stdin, child.stdout, child.stderr))
    helpers = [asyncio.create_task(_feed(stdin, order, content)), asyncio.create_task(_log(stderr))]
    try:
        check = _Limits()
        async for line in _lines(stdout, seconds=WAIT_FACTOR * limits.seconds):
            parsed = decode_line(line)
            if isinstance(parsed, End):
                check.finish()
                return
            check.take(parsed)
            yield parsed
        await _raise_for_death(child)
    finally:
        await _end(child, stdout, helpers)


async def _start() -> Process:
    return await asyncio.create_subprocess_exec(
        *COMMAND,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        env=ENVIRONMENT,
        cwd="/",
        start_new_session=True,
        limit=LONGEST_LINE_BYTES,
    )


async def _feed(stdin: StreamWriter, order: dict[str, object], content: bytes) -> None:
    """Send the file; a child that has died, or has finished early, does not take all of it."""
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        stdin.write(json.dumps(order).encode("ascii") + b"\n")
        stdin.write(content)
        await stdin.drain()
        stdin.close()
        await stdin.wait_closed()


async def _log(stderr: StreamReader) -> None:
    """Log how the child failed: it names classes of errors, never the content of the document."""
    message = await stderr.read(MOST_LOGGED_BYTES)
    if message:
        logger.info("parsing a document: %s", message.decode("ascii", "backslashreplace").strip())
    while await stderr.read(MOST_LOGGED_BYTES):
        pass


async def _lines(stdout: StreamReader, *, seconds: float) -> AsyncIterator[bytes]:
    """Yield the child's lines until its output ends. Only time spent waiting for it counts."""
    while seconds > 0:
        started = time.monotonic()
        try:
            async with asyncio.timeout(seconds):
                line = await stdout.readline()
        except TimeoutError as error:
            raise DocumentTooCostly from error
        except ValueError as error:  # longer than a line may be
            raise DocumentDamaged from error
        if not line:
            return
        yield line
        seconds -= time.monotonic() - started
    raise DocumentTooCostly


class _Limits:
    """Bounds what a child may send in all, and in which order."""

    def __init__(self) -> None:
        self._percent = -1
        self._passages = self._characters = 0
        self._has_kind = self._has_unread = False

    def take(self, parsed: Parsed) -> None:
        """Raise if *parsed* may not come now."""
        if isinstance(parsed, KindFound) is self._has_kind:
            raise DocumentDamaged
        self._has_kind = True
        if isinstance(parsed, SkippedParts):
            if self._has_unread:
                raise DocumentDamaged
            self._has_unread = True
        if isinstance(parsed, Progress):
            if parsed.percent <= self._percent:
                raise DocumentDamaged
            self._percent = parsed.percent
        if isinstance(parsed, ParsedPassage):
            self._passages += 1
            self._characters += len(parsed.text)
            if self._passages > MOST_PASSAGES or self._characters > MOST_CHARACTERS:
                raise DocumentTooLong

    def finish(self) -> None:
        """Raise if there was no passage: of an empty document the child itself says so."""
        if not self._passages:
            raise DocumentDamaged


async def _raise_for_death(child: Process) -> None:
    """Raise the error for a child that has ended without a last line."""
    code = await child.wait()
    logger.warning("parsing a document ended with %s", code)
    raise DocumentTooCostly if code in DEATHS_BY_COST else DocumentDamaged


async def _end(child: Process, stdout: StreamReader, helpers: list[asyncio.Task[None]]) -> None:
    """Kill the child with all that it has started. Its output is read to the end, because asyncio waits for that."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    for helper in helpers:
        helper.cancel()
    await asyncio.gather(*helpers, return_exceptions=True)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(END_SECONDS):
            while await stdout.read(LONGEST_LINE_BYTES):
                pass
            await child.wait()
