"""Memory of a process that lives for weeks: what is freed goes back to the system, not to the allocator's lists.

Large blocks go back when they are freed. Whole pages that are free between small blocks go back once a minute, which
takes a millisecond: without that 8 MB of them gathered in a web process within 900 actions of its users.
"""

from __future__ import annotations

import ctypes
import threading
import time

M_MMAP_THRESHOLD, M_ARENA_MAX = -3, -8  # malloc.h of glibc
# With each large block that is freed glibc raises its threshold, up to 32 MB; blocks below it come from heaps that are
# cut only at their end. Set once, it stays.
MMAP_THRESHOLD_BYTES = 256 * 1024
ARENAS = 2  # by default eight for each core, and each keeps what its threads have freed
TRIM_SECONDS = 60.0


def return_freed_memory(*, trim_seconds: float = TRIM_SECONDS) -> None:
    """Let glibc's allocator give memory back, from now on. Elsewhere nothing is changed.

    To be called before the process starts threads: arenas that they have made stay.
    """
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallopt") or not hasattr(libc, "malloc_trim"):
        return
    libc.mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD_BYTES)
    libc.mallopt(M_ARENA_MAX, ARENAS)
    threading.Thread(target=_trim_for_ever, args=(libc, trim_seconds), name="memory", daemon=True).start()


def _trim_for_ever(libc: ctypes.CDLL, seconds: float) -> None:
    while True:
        time.sleep(seconds)
        libc.malloc_trim(0)  # without Python's lock: other threads wait only where they allocate
