"""Several people, or one with several tabs, at the same moment."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

from django.db import connection

from tests.support.patience import PATIENCE_SECONDS

T = TypeVar("T")
R = TypeVar("R")
E = TypeVar("E", bound=Exception)


def at_once(do: Callable[[T], R], things: Iterable[T], *, refused_by: type[E] | tuple[()] = ()) -> list[R | E]:
    """Do something with each of *things* in a thread of its own, all at the same moment.

    Returns what each returned, or raised where that is *refused_by*; any other error is raised here.
    """
    crowd = list(things)
    barrier = Barrier(len(crowd))

    def wait_and_do(thing: T) -> R | E:
        barrier.wait(timeout=PATIENCE_SECONDS)
        try:
            return do(thing)
        except refused_by as refusal:
            return refusal
        finally:
            connection.close()

    with ThreadPoolExecutor(len(crowd)) as pool:
        return list(pool.map(wait_and_do, crowd))
