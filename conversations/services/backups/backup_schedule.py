"""Claim the next scheduled backup, and note how it ended. Of all processes one makes it."""

from __future__ import annotations

import datetime as dt

from django.db import connection
from django.db.models.functions import Now

from conversations.models import BackupSchedule

RETRY = dt.timedelta(minutes=30)  # after a try that failed, or whose process said nothing for as long
# clock_timestamp(), as a statement that waited for another process's claim began before it: by statement_timestamp()
# that claim would lie in the future, as after a jump of the clock.
CLAIM = """
INSERT INTO conversations_backupschedule AS schedule (id, tried_at) VALUES (1, statement_timestamp())
ON CONFLICT (id) DO UPDATE SET tried_at = excluded.tried_at
WHERE (extract(epoch FROM clock_timestamp() - schedule.made_at) BETWEEN 0 AND %s) IS NOT TRUE
  AND (extract(epoch FROM clock_timestamp() - schedule.tried_at) BETWEEN 0 AND %s) IS NOT TRUE
RETURNING id
"""


def claim_scheduled_backup(*, every: dt.timedelta) -> bool:
    """Tell whether a backup is due and this process is to make it. A moment in the future is a clock that jumped."""
    with connection.cursor() as cursor:
        cursor.execute(CLAIM, [every.total_seconds(), RETRY.total_seconds()])
        return cursor.fetchone() is not None


def renew_scheduled_backup() -> None:
    """Say that it is still being made."""
    BackupSchedule.objects.update(tried_at=Now())


def release_scheduled_backup() -> None:
    """Leave it to the next process, at once."""
    BackupSchedule.objects.update(tried_at=None)


def note_made_backup() -> None:
    BackupSchedule.objects.update(made_at=Now(), failure="")


def note_failed_backup(reason: str) -> None:
    BackupSchedule.objects.update(tried_at=Now(), failure=reason)
