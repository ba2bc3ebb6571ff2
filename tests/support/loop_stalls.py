"""Stalls of a site's event loop, written into a file by a beat in it: `TOOL_MODULES=tests.support.loop_stalls`.

A site imports the modules of its tools before it makes its loop, so the loop that it makes then has the beat. A stall
is how much later than asked for the beat came. On a busy machine that is also the time in which the process did not
run, so a stall is at most the processor time that the whole process took meanwhile: its other threads may have held
the interpreter. A loop that waits for a file or a socket is not seen so.
"""

from __future__ import annotations

import os
import time
from asyncio import AbstractEventLoop
from pathlib import Path

import uvloop

STALLS_FILE = "STALLS_FILE"
BEAT_SECONDS = 0.005
NOTED_SECONDS = 0.01  # shorter ones are not written down

_make_loop = uvloop.new_event_loop


def make_loop() -> AbstractEventLoop:
    """Return a new event loop that notes its stalls."""
    loop = _make_loop()
    loop.call_soon(beat, loop, time.monotonic(), time.process_time())
    return loop


def beat(loop: AbstractEventLoop, due: float, taken_before: float) -> None:
    stall = min(time.monotonic() - due, time.process_time() - taken_before)
    if stall > NOTED_SECONDS:
        with Path(os.environ[STALLS_FILE]).open("a") as file:
            file.write(f"{time.time()} {stall}\n")
    loop.call_later(BEAT_SECONDS, beat, loop, time.monotonic() + BEAT_SECONDS, time.process_time())


def longest_stall(path: Path, *, since: float) -> float:
    """Return the longest stall in seconds that ended after *since*, of the Unix clock; 0 if none was noted."""
    lines = [line.split() for line in path.read_text().splitlines()] if path.exists() else []
    return max((float(seconds) for ended_at, seconds in lines if float(ended_at) > since), default=0.0)


if STALLS_FILE in os.environ:
    uvloop.new_event_loop = make_loop
