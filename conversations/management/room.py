"""Whether a disk had room for a copy of a database: said where a copy fails and this may be why.

PostgreSQL says of a full disk that no space is left, that it wrote less than it should, or only that it is gone.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

FRESH_BYTES = 150 * 2**20  # data without a row, and the log of changes

MAY_BE_FULL = "The disk may be full:"


def free_bytes(folder: Path) -> int:
    """Return how much room the disk of *folder* has, which may be still to be made. Raises `OSError`."""
    for each in (folder, *folder.absolute().parents):
        with suppress(FileNotFoundError, PermissionError):
            return shutil.disk_usage(each).free
    raise FileNotFoundError(folder)


def explain_failure(reason: str, folder: Path | str, *, free: int, database_bytes: int) -> str:
    """Return *reason*, and a second sentence if so many *free* bytes were too few for a copy of the database."""
    needed = database_bytes + FRESH_BYTES
    if free >= needed:
        return reason
    told = f"{folder} needs about {needed / 2**20:,.0f} MB, and {free / 2**20:,.0f} MB were free."
    return f"{reason.rstrip('. ')}. {MAY_BE_FULL} {told}"
