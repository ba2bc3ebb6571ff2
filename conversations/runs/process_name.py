"""Names of processes that hold work, and whether the process of a name is gone, which its own machine knows at once.

A name is `host:pid:machine-start-number`. *machine* is a digest of the boot and of the space of process ids that the
process was in, such as a container's; *start* is when it began, so that a process id that is used again is another
process. Elsewhere than on Linux no machine is known, and only a lease tells.
"""

from __future__ import annotations

import functools
import hashlib
import os
import socket
import uuid
from contextlib import suppress
from pathlib import Path

BOOT = Path("/proc/sys/kernel/random/boot_id")
PROCESS_IDS = Path("/proc/self/ns/pid")
ENDED = "ZX"  # states of a process whose parent has not asked yet how it ended


def name_process() -> str:
    """Return a new name for work that this process holds; at most 100 characters."""
    pid = os.getpid()
    _, start = _state_and_start(pid) or ("", "")
    return f"{socket.gethostname()}:{pid}:{_machine()}-{start}-{uuid.uuid4().hex[:8]}"


def is_gone(name: str) -> bool:
    """Tell whether the process that made *name* has ended. False where that can't be known for certain from here."""
    try:
        _, pid, made = name.rsplit(":", 2)
        machine, start, _ = made.split("-")
        number = int(pid)
    except ValueError:  # a name of an earlier release
        return False
    if not start or not machine or machine != _machine():
        return False
    if found := _state_and_start(number):
        return found[0] in ENDED or found[1] != start
    # What /proc does not show may be hidden: a signal alone tells whether there is such a process.
    with suppress(PermissionError):
        try:
            os.kill(number, 0)
        except ProcessLookupError:
            return True
    return False


@functools.cache
def _machine() -> str:
    """Return a digest of what makes process ids comparable; blank where that is not known."""
    try:
        place = f"{BOOT.read_text()}{PROCESS_IDS.readlink()}"
    except OSError:
        return ""
    return hashlib.blake2b(place.encode(), digest_size=4).hexdigest()


def _state_and_start(pid: int) -> tuple[str, str] | None:
    """Return the state of a process and when it began, in ticks since the boot, as hexadecimal: proc(5)."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = told.rpartition(")")[2].split()  # the name before may hold blanks and brackets
    return fields[0], f"{int(fields[19]):x}"
