"""The backups that a site keeps in a folder: of those that it made by schedule the newest, and all others."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from pathlib import Path

from .backup_file import DRAFT, BackupFile, BackupHead, BackupUnreadable

OLD_ONES_STAY = 3  # exit status of a command that made a backup and could not delete older ones
NAMED = "windowseat-*.backup"


def delete_old_backups(folder: Path, *, site: str, keep: int, newest: Path) -> list[Path]:
    """Delete all but *keep* of the scheduled backups of *site* in *folder*, and return those that are gone.

    What another site made, what a person asked for and what can't be read stays. *newest* stays whatever the clock
    says. Drafts of scheduled backups whose process is gone are deleted, too. Raises `OSError`.
    """
    ours = [(head.made_at, path) for path, head in _scheduled(folder, NAMED, site) if path != newest]
    old = [path for _, path in sorted(ours, reverse=True)[keep - 1 :]]
    drafts = [path for path, _ in _scheduled(folder, DRAFT.format(NAMED), site) if not _is_being_written(path)]
    for path in (*old, *drafts):
        path.unlink(missing_ok=True)
    return old


def _scheduled(folder: Path, pattern: str, site: str) -> Iterator[tuple[Path, BackupHead]]:
    for path in folder.glob(pattern):
        try:
            head = BackupFile(path).read_head()
        except BackupUnreadable:
            continue
        if head.is_scheduled and head.site == site:
            yield path, head


def _is_being_written(path: Path) -> bool:
    try:
        with path.open("rb") as draft:
            fcntl.flock(draft, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except (BlockingIOError, FileNotFoundError):  # or it has just been written
        return True
    return False
