"""Backups: whether they are scheduled, how old the newest is, and whether it lies on another disk."""

from __future__ import annotations

import time
from collections.abc import Iterator

from django.conf import settings
from django.db.utils import Error

from chatsite.backups.kept_backups import NAMED
from chatsite.checkup import Line
from chatsite.command_line import spell_command
from conversations.backup_probe import judge_backups
from conversations.selectors.figures.backup_status import backup_status

from . import database
from .options import Options

SUBJECT = "backups"
DAY_SECONDS = 86_400
OLD_DAYS = 7
AHEAD_DAYS = 0.01  # by which the clocks of machines may differ


def check_backups(options: Options) -> Iterator[Line]:
    yield _check_schedule() if settings.BACKUP_EVERY_HOURS else _check_newest_file()
    if settings.BACKUP_EVERY_HOURS and _is_same_disk():
        text = f"BACKUP_FOLDER, {settings.BACKUP_FOLDER}, is on the disk of VAR_DIR: who loses one loses both."
        yield Line("look", SUBJECT, text, "Put BACKUP_FOLDER on another disk, or copy each backup to another machine.")
    if not settings.BACKUP_PASSPHRASE:
        text = "Backups are not encrypted: who has one has all conversations and the secret key."
        yield Line(
            "look" if settings.BACKUP_EVERY_HOURS else "ok", SUBJECT, text, "Set BACKUP_PASSPHRASE, and keep it apart."
        )


def _check_schedule() -> Line:
    if database.is_still_to_be_made():
        return Line(
            "look", SUBJECT, f"One is made every {settings.BACKUP_EVERY_HOURS} hours, once there is a database."
        )
    try:
        status = backup_status()
    except Error:
        return Line("look", SUBJECT, database.AWAY)
    found = judge_backups(status, every_hours=settings.BACKUP_EVERY_HOURS)
    if status is None or (status.age_seconds is None and not status.has_failed):
        advice = "A worker makes the first one soon after its start: look again then."
        return Line("look", SUBJECT, "No scheduled backup has been made yet.", advice)
    if found.state != "ok" or status.age_seconds is None:
        advice = (
            f"See the log of the worker, or what {spell_command('backup')} says. Once that works, the worker makes "
            "its own within half an hour, and this line is ok again."
        )
        return Line("bad", SUBJECT, f"{found.reason[:1].upper()}{found.reason[1:]}.", advice)
    return Line("ok", SUBJECT, f"The newest scheduled backup is {status.age_seconds / 3600:.1f} hours old.")


def _check_newest_file() -> Line:
    """Look for a file that a person made in the folder of backups."""
    try:
        newest = max((path.stat().st_mtime for path in settings.BACKUP_FOLDER.glob(NAMED)), default=None)
    except OSError as error:
        return Line("look", SUBJECT, f"BACKUP_FOLDER can't be read: {error.strerror or error}.")
    advice = f"Set BACKUP_EVERY_HOURS=24, or run {spell_command('backup')} by cron. docs/backups.md says more."
    if newest is None:
        return Line("look", SUBJECT, f"No backups are scheduled, and none is in {settings.BACKUP_FOLDER}.", advice)
    days = (time.time() - newest) / DAY_SECONDS
    if days < -AHEAD_DAYS:
        text = f"No backups are scheduled; the time of the newest in {settings.BACKUP_FOLDER} has not come yet."
        return Line("look", SUBJECT, text, f"See whether the clock is right. {advice}")
    days = max(0.0, days)
    told = f"No backups are scheduled; the newest in {settings.BACKUP_FOLDER} is {days:.1f} days old."
    return Line("look" if days > OLD_DAYS else "ok", SUBJECT, told, advice)


def _is_same_disk() -> bool:
    try:
        return settings.BACKUP_FOLDER.stat().st_dev == settings.VAR_DIR.stat().st_dev
    except OSError:
        return False
