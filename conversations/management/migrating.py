"""Migrations, safe to start from several processes at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.management import call_command
from django.db import connection

LOCK_ID = 0x57494E44  # "WIND"; any number that no one else locks in this database


def migrate() -> None:
    """Bring the database up to date. A process that comes second waits, and then finds nothing to do."""
    with _advisory_lock(LOCK_ID):
        call_command("migrate", interactive=False, verbosity=0)


@contextmanager
def _advisory_lock(lock_id: int) -> Iterator[None]:
    """Hold PostgreSQL's lock of this session; it also ends with the session, so a killed process holds nothing."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [lock_id])
        try:
            yield
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [lock_id])
