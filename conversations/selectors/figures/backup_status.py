"""Backup status: how old the newest scheduled backup is, and whether the last try failed."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import connection

STATUS = """
SELECT extract(epoch FROM statement_timestamp() - made_at)::float8, failure <> '' FROM conversations_backupschedule
"""


@dataclass(frozen=True, slots=True)
class BackupStatus:
    """*age_seconds* is None where none was made yet."""

    age_seconds: float | None
    has_failed: bool


def backup_status() -> BackupStatus | None:
    """Return it, by the database's clock; None where none has been tried yet."""
    with connection.cursor() as cursor:
        cursor.execute(STATUS)
        row = cursor.fetchone()
    return BackupStatus(*row) if row else None
