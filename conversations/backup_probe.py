"""The backups' part of `/readyz`: whether scheduled ones are made. A site without them serves, so it is degraded."""

from __future__ import annotations

from django.conf import settings
from django.db import connection

from chatsite.health.probe import OK, Finding
from chatsite.health.readiness import register_probe
from conversations.selectors.figures.backup_status import BackupStatus, backup_status

OLD_INTERVALS = 2  # this many times the hours between two
MOST_AHEAD_SECONDS = 300  # by which clocks may differ
UNKNOWN = Finding("degraded", "the database does not say how old the newest backup is")


def register_backup_probe() -> None:
    """Let it be asked, where backups are scheduled."""
    if settings.BACKUP_EVERY_HOURS:
        register_probe("backup", _look, silence=UNKNOWN)


def _look() -> Finding:
    try:
        return judge_backups(backup_status(), every_hours=settings.BACKUP_EVERY_HOURS)
    finally:
        connection.close()


def judge_backups(status: BackupStatus | None, *, every_hours: int) -> Finding:
    if status and status.has_failed:
        return Finding("degraded", "the last scheduled backup failed; the log of the worker says why")
    if not status or status.age_seconds is None:
        return Finding("degraded", "no scheduled backup has been made yet")
    if status.age_seconds < -MOST_AHEAD_SECONDS:
        return Finding("degraded", "the time of the newest scheduled backup has not come yet: a clock was wrong")
    if (hours := status.age_seconds / 3600) > OLD_INTERVALS * every_hours:
        return Finding("degraded", f"the newest scheduled backup is {hours:.0f} hours old")
    return OK
