"""Connection pool: give this thread's connection back before work that needs none, and tell when none was free."""

from __future__ import annotations

from django.db import connection
from psycopg_pool import PoolTimeout


def release_connection() -> None:
    """Return it to the pool; the next statement takes one again. Within a transaction it is kept."""
    if not connection.in_atomic_block:
        connection.close()


def is_pool_full(error: BaseException | None) -> bool:
    """Tell whether *error* says that no connection became free in time."""
    return isinstance(error, PoolTimeout) or isinstance(getattr(error, "__cause__", None), PoolTimeout)
