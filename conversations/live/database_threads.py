"""Threads for database calls from the event loop, each with a connection that goes back to the pool afterwards.

Sockets share the loop's own threads. The run worker has a pool of its own: when every other thread waits for the
database, replies must still be saved and leases prolonged. And so has what renders many messages at once: one user's
long conversation must not keep the others from sending. The indexer has one thread: whatever is there to be indexed, it
takes no more of the process than that. Looking up has its own, too: people may keep millions of words to look in.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from channels.db import database_sync_to_async

from chatsite.postgres.connection import long_work

P = ParamSpec("P")
R = TypeVar("R")

_rendering_threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="rendering")
_indexer_threads = ThreadPoolExecutor(max_workers=1, thread_name_prefix="indexer")
_look_up_threads = ThreadPoolExecutor(max_workers=3, thread_name_prefix="look-up")
_worker_threads = ThreadPoolExecutor(max_workers=4, thread_name_prefix="run-worker")


def in_thread(function: Callable[P, R]) -> Callable[P, Awaitable[R]]:
    """Return *function* to be awaited, for sockets."""
    return _in(None, function)


def in_rendering_thread(function: Callable[P, R]) -> Callable[P, Awaitable[R]]:
    """Return *function* to be awaited, for what renders a conversation."""
    return _in(_rendering_threads, function)


def in_worker_thread(function: Callable[P, R]) -> Callable[P, Awaitable[R]]:
    """Return *function* to be awaited, for the run worker."""
    return _in(_worker_threads, function)


def in_indexer_thread(function: Callable[P, R]) -> Callable[P, Awaitable[R]]:
    """Return *function* to be awaited, for the indexer."""
    return _in(_indexer_threads, long_work()(function))


def in_look_up_thread(function: Callable[P, R]) -> Callable[P, Awaitable[R]]:
    """Return *function* to be awaited, for searches among passages."""
    return _in(_look_up_threads, function)


def _in(crew: ThreadPoolExecutor | None, function: Callable[P, R]) -> Callable[P, Awaitable[R]]:
    awaitable: Callable[P, Awaitable[R]] = database_sync_to_async(function, thread_sensitive=False, executor=crew)
    return awaitable
