"""Calls into the database from the event loop, each in a thread whose connection goes back to the pool afterwards.

Pages and sockets share the loop's own threads. The run worker has a crew of its own: when every other thread waits for
the database, replies must still be saved and leases prolonged.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from channels.db import database_sync_to_async

P = ParamSpec("P")
R = TypeVar("R")

_worker_threads = ThreadPoolExecutor(max_workers=4, thread_name_prefix="run-worker")


def in_thread(function: Callable[P, R]) -> Callable[P, Awaitable[R]]:
    """Return *function* to be awaited, for pages and sockets."""
    awaitable: Callable[P, Awaitable[R]] = database_sync_to_async(function, thread_sensitive=False)
    return awaitable


def in_worker_thread(function: Callable[P, R]) -> Callable[P, Awaitable[R]]:
    """Return *function* to be awaited, for the run worker."""
    awaitable: Callable[P, Awaitable[R]] = database_sync_to_async(
        function, thread_sensitive=False, executor=_worker_threads
    )
    return awaitable
