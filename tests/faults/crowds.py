"""Several people, or one with several tabs, at the same moment."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def at_once(do: Callable[[T], R], things: Iterable[T]) -> list[R]:
    """Do something with each of *things* in a thread of its own, all at the same moment."""
    crowd = list(things)
    barrier = Barrier(len(crowd))

    def wait_and_do(thing: T) -> R:
        barrier.wait()
        return do(thing)

    with ThreadPoolExecutor(len(crowd)) as pool:
        return list(pool.map(wait_and_do, crowd))
