"""Disks: room and rights in the folders that the site writes to."""

from __future__ import annotations

import errno
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from django.conf import settings

from chatsite.checkup import Line

from .options import Options

SUBJECT = "disks"
GIGABYTE = 1_000_000_000
FULL_BYTES, LOW_BYTES = GIGABYTE // 4, 2 * GIGABYTE
LOW_SHARE = 0.05
FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
FULL_ADVICE = "Make room on its disk: delete what is not the site's, or enlarge it. The site goes on by itself then."
RIGHTS_ADVICE = "Make it belong to the account that the site runs as."


def check_disks(options: Options) -> Iterator[Line]:
    for names, folder in _folders().items():
        yield _check_folder(folder, names)


def _folders() -> Mapping[str, Path]:
    """Return what each folder is for, by its settings; one that is in another on the same disk is left out."""
    folders = {"VAR_DIR": settings.VAR_DIR, "temporary files (TMPDIR)": Path(tempfile.gettempdir())}
    if settings.BACKUP_FOLDER.is_dir():
        folders["BACKUP_FOLDER"] = settings.BACKUP_FOLDER
    return folders


def _check_folder(folder: Path, name: str) -> Line:
    """Write a temporary file there, and look at what is free."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"x")
            file.flush()
        usage = shutil.disk_usage(folder)
    except OSError as error:
        text = f"{folder}, for {name}, can't be written to: {error.strerror or error}."
        return Line("bad", SUBJECT, text, FULL_ADVICE if error.errno in FULL else RIGHTS_ADVICE)
    told = f"{folder}, for {name}, has {usage.free / GIGABYTE:,.1f} of {usage.total / GIGABYTE:,.1f} GB free."
    if usage.free < FULL_BYTES:
        return Line("bad", SUBJECT, told, "Make room: what is written there soon fails.")
    if usage.free < min(LOW_BYTES, usage.total / 2) or usage.free < LOW_SHARE * usage.total:
        return Line("look", SUBJECT, told, "Make room before it is full.")
    return Line("ok", SUBJECT, told)
