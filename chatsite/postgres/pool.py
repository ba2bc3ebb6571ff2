"""Connection pool: give this thread's connection back before work that needs none, and tell when none was free.

A connection that carried a large value is not used again: libpq's buffers grow to what was sent or read at once, by
doubling, and stay so for as long as the connection lives. After documents of 20 MB each held 74 MB, after pictures of
less than 1 MB up to 3. Bytes are read as hexadecimal digits, so the buffer for reading grows to four times a value.
"""

from __future__ import annotations

from django.db import connection, transaction
from psycopg_pool import PoolTimeout

LARGE_VALUE_BYTES = 64 * 1024  # full pools of 16 keep 6 MB of smaller ones


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
