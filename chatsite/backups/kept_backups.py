"""The backups that a site keeps in a folder: of those that it made by schedule the newest, and all others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from .backup_file import DRAFT, BackupFile, BackupHead, BackupUnreadable, try_lock

OLD_ONES_STAY = 3  # exit status of a command that made a backup and could not delete older ones
NAMED = "windowseat-*.backup"


def delete_old_backups(folder: Path, *, site: str, keep: int, newest: Path) -> list[Path]:
    """Delete all but *keep* of the scheduled backups of *site* in *folder*, and return those that are gone.

    What another site made, what a person asked for and what can't be read stays. *newest* stays whatever its number.
    Raises `OSError`.
    """
    ours = [(head.number, head.made_at, path) for path, head in _scheduled(folder, site)]
    old = [path for _, _, path in sorted(each for each in ours if each[2] != newest)[::-1][keep - 1 :]]
    for path in old:
        path.unlink(missing_ok=True)
    return old


def next_number(folder: Path, *, site: str) -> int:
    """Return the number of the next scheduled backup of *site* in *folder*.

    It tells which ones are newer. Their times don't where a clock was wrong. Raises `OSError`.
    """
    return 1 + max((head.number for _, head in _scheduled(folder, site)), default=0)


def delete_drafts(folder: Path, *, site: str) -> None:
    """Delete the drafts of *site* that no process writes, and those with which none has come to its first byte.

    What another account has left stays. Raises `OSError` for a folder that can't be read.
    """
    pattern = DRAFT.format(NAMED)
    ours = {path for path, _ in _made_here(folder, pattern, site)}
    for path in _find_files(folder, pattern):
        with suppress(OSError), path.open("rb") as draft:  # or it has just been written
            if (path in ours or path.stat().st_size == 0) and try_lock(draft):
                path.unlink()


def _scheduled(folder: Path, site: str) -> Iterator[tuple[Path, BackupHead]]:
    return (each for each in _made_here(folder, NAMED, site) if each[1].is_scheduled)


def _made_here(folder: Path, pattern: str, site: str) -> Iterator[tuple[Path, BackupHead]]:
    for path in _find_files(folder, pattern):
        try:
            head = BackupFile(path).read_head()
        except BackupUnreadable:
            continue
        if head.site == site:
            yield path, head


def _find_files(folder: Path, pattern: str) -> list[Path]:
    """Return the plain files of that name: a pipe would be waited for, for ever."""
    return [path for path in folder.glob(pattern) if path.is_file()]
