"""Work that takes turns, so that the machine's moods hit all alike, and how long each takes."""

from __future__ import annotations

import signal
import statistics
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import TypeVar

Work = Callable[[], object]
Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Taken:
    """What one piece of work took: by the clock, and of this process's CPU time, which leaves out the database's."""

    wall_us: float
    cpu_us: float


class OutOfTime(BaseException):
    """Past `except Exception`: no library that is being measured may mistake it for a failure of its own."""


def take_turns(works: Mapping[Name, Work], *, rounds: int, warm_up_rounds: int) -> dict[Name, Taken]:
    """Return the medians of *rounds* in which each work is done once."""
    for _ in range(warm_up_rounds):
        for work in works.values():
            work()
    taken: dict[Name, list[Taken]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            taken[name].append(time_work(work))
    return {name: medians(each) for name, each in taken.items()}


def take_turns_within(works: Mapping[Name, Work], *, rounds: int, seconds: float) -> dict[Name, Taken | None]:
    """Return medians likewise, and None for a work that once was not done after *seconds*; it gets no more turns.

    Nor does one that has used up as much in all its turns, so that slow ones do not keep the others waiting for long.
    """
    taken: dict[Name, list[Taken]] = {name: [] for name in works}
    unfinished: set[Name] = set()
    for _ in range(rounds):
        for name, work in works.items():
            if name in unfinished or sum(turn.wall_us for turn in taken[name]) >= seconds * 1e6:
                continue
            try:
                with stopped_after(seconds):
                    taken[name].append(time_work(work))
            except OutOfTime:
                unfinished.add(name)
    return {name: None if name in unfinished else medians(each) for name, each in taken.items()}


def time_work(work: Work) -> Taken:
    started, cpu_started = time.perf_counter(), time.process_time()
    work()
    cpu_ended, ended = time.process_time(), time.perf_counter()
    return Taken((ended - started) * 1e6, (cpu_ended - cpu_started) * 1e6)


def medians(taken: list[Taken]) -> Taken:
    return Taken(statistics.median(t.wall_us for t in taken), statistics.median(t.cpu_us for t in taken))


@contextmanager
def stopped_after(seconds: float) -> Iterator[None]:
    """Raise `OutOfTime` in the block if it takes longer. In the main thread only: signals come nowhere else."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
