"""A server that ends transactions which are idle, as it does while the site serves, but within milliseconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import connection

from .patience import wait_for

ENDED_OR_IDLE_FOR_LONG = """
SELECT NOT EXISTS (
  SELECT FROM pg_stat_activity WHERE pid = %s AND clock_timestamp() - state_change < '400ms'
)
"""


@contextmanager
def ending_idle_transactions() -> Iterator[Callable[[], None]]:
    """Let transactions of this thread be idle for 200 ms at most, and yield what is idle in one for twice as long."""
    watcher = connection.copy()

    def was_idle(backend: int) -> bool:
        with watcher.cursor() as cursor:
            cursor.execute(ENDED_OR_IDLE_FOR_LONG, [backend])
            return bool(cursor.fetchone()[0])

    def be_idle() -> None:
        backend = connection.connection.info.backend_pid
        wait_for(lambda: was_idle(backend), "the transaction was idle for longer than it may, or has ended")

    with connection.cursor() as cursor:
        cursor.execute("SET idle_in_transaction_session_timeout = '200ms'")
    try:
        yield be_idle
    finally:
        if connection.is_usable():  # the pool keeps it for other tests
            with connection.cursor() as cursor:
                cursor.execute("RESET idle_in_transaction_session_timeout")
        connection.close()
        watcher.close()
