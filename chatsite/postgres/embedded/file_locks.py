"""File locks (`flock(2)`), which the kernel releases when their last holder ends, also after SIGKILL."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


def open_beside_data(path: Path, flags: int) -> int:
    """Open one of the files beside the data, private to the owner of their folder even when root makes it."""
    descriptor = os.open(path, flags | os.O_CREAT | os.O_CLOEXEC, 0o600)
    if os.geteuid() == 0:
        folder = path.parent.stat()
        os.fchown(descriptor, folder.st_uid, folder.st_gid)
    return descriptor


def lock_shared(path: Path) -> int:
    """Wait for a shared lock on *path*; it lasts while the returned descriptor or a copy of it is open."""
    descriptor = open_beside_data(path, os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    return descriptor


def try_lock_exclusive(path: Path) -> int | None:
    """Return a descriptor that holds the exclusive lock on *path*, or None while another process has a lock."""
    descriptor = open_beside_data(path, os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor
