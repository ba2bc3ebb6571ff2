"""Landlock: the kernel restricts this process to reading some folders, also as root.

Linux has it from 5.13 on, later versions restrict more, and it may be left out of a build. See `linux/landlock.h` and
https://docs.kernel.org/userspace-api/landlock.html (read in 2026).
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from pathlib import Path

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same on every architecture
TELL_VERSION = 1
BENEATH_A_PATH = 1
READ_FILE, READ_FOLDER = 1 << 2, 1 << 3
# From which version on the kernel knows how many rights of files; what is known and not granted is refused.
RIGHTS_OF_FILES = ((5, 16), (3, 15), (2, 14), (1, 13))
RIGHTS_OF_TCP = 0b11  # to bind, to connect: from version 4 on
SCOPES = 0b11  # abstract sockets and signals only to processes in the same sandbox: from version 6 on


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("tcp", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


class _BeneathAPath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


def allow_reading_beneath(libc: ctypes.CDLL, folders: Iterable[Path]) -> bool:
    """Allow opening files only for reading and only beneath *folders*. Return whether the kernel enforces it.

    The process must not be able to gain rights (`PR_SET_NO_NEW_PRIVS`).
    """
    version = libc.syscall(CREATE_RULESET, None, 0, TELL_VERSION)
    if version < 1:
        return False
    ruleset = _ruleset_for(version)
    rules = libc.syscall(CREATE_RULESET, ctypes.byref(ruleset), ctypes.c_size_t(_size_for(version)), 0)
    if rules < 0:
        return False
    for folder in folders:
        _allow(libc, rules, folder)
    restricted: bool = libc.syscall(RESTRICT_SELF, rules, 0) == 0
    os.close(rules)
    return restricted


def _ruleset_for(version: int) -> _Ruleset:
    rights = next(rights for since, rights in RIGHTS_OF_FILES if version >= since)
    return _Ruleset((1 << rights) - 1, RIGHTS_OF_TCP if version >= 4 else 0, SCOPES if version >= 6 else 0)


def _size_for(version: int) -> int:
    """Return the bytes of a ruleset that the kernel knows: it refuses a longer one with anything in the rest."""
    return 24 if version >= 6 else 16 if version >= 4 else 8


def _allow(libc: ctypes.CDLL, rules: int, folder: Path) -> None:
    try:
        descriptor = os.open(folder, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # there is no such folder
        return
    rule = _BeneathAPath(READ_FILE | READ_FOLDER, descriptor)
    libc.syscall(ADD_RULE, rules, BENEATH_A_PATH, ctypes.byref(rule), 0)
    os.close(descriptor)
