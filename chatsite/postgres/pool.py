"""Connection pool: which connection is given out, what gives one back early, and whether none was free.

A connection that carried a large value is not used again: libpq's buffers grow to what was sent or read at once, by
doubling, and stay so for as long as the connection lives. After documents of 20 MB each held 74 MB, after pictures of
less than 1 MB up to 3. Bytes are read as hexadecimal digits, so the buffer for reading grows to four times a value.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from django.db import connection, transaction
from psycopg_pool import ConnectionPool, PoolTimeout

LARGE_VALUE_BYTES = 64 * 1024  # full pools of 16 keep 6 MB of smaller ones


class _NewestFirst(deque[Any]):
    """The idle connections of a pool, which takes them from the left, with those in front that came back last."""

    def append(self, idle: Any) -> None:
        self.appendleft(idle)


def give_newest_first(pool: ConnectionPool[Any]) -> None:
    """Let *pool*, which is not open yet, give out the connection that came back last (LIFO).

    By itself it would give out the one that is idle for longest, so that all stay in use, and PostgreSQL's process of
    each has to plan the same statements and fill its caches. (A pool that shrinks closes the newest, too: once in ten
    minutes.) Uses psycopg_pool's list of idle connections.
    """
    pool._pool = _NewestFirst(pool._pool)


def release_connection() -> None:
    """Return it to the pool; the next statement takes one again. Within a transaction it is kept."""
    if not connection.in_atomic_block:
        connection.close()


def replace_after_large_value(size_bytes: int) -> None:
    """Let the pool replace this thread's connection when it is given back, if a value of *size_bytes* was large."""
    if size_bytes >= LARGE_VALUE_BYTES:
        transaction.on_commit(_expire)


def _expire() -> None:
    if connection.connection is not None:
        connection.connection._expire_at = -float("inf")  # psycopg_pool's: when it is too old to be given out


def is_pool_full(error: BaseException | None) -> bool:
    """Tell whether *error* says that no connection became free in time."""
    return isinstance(error, PoolTimeout) or isinstance(getattr(error, "__cause__", None), PoolTimeout)
