"""Memory of a process that lives for weeks: what is freed goes back to the system, not to the allocator's lists.

Large blocks go back when they are freed. Every few minutes cycles are freed, and then whole pages that are free between
small blocks in use go back. Otherwise a web process kept 8 MB of such pages after 900 actions of its users; and cycles
that had been in use for a while waited for hours, because the collector is told to look at old objects seldom.
"""

from __future__ import annotations

import ctypes
import gc
import threading
import time

M_MMAP_THRESHOLD, M_ARENA_MAX = -3, -8  # malloc.h of glibc
# With each large block that is freed glibc raises its threshold, up to 32 MB; blocks below it come from heaps that are
# cut only at their end. Set once, it stays.
MMAP_THRESHOLD_BYTES = 256 * 1024
ARENAS = 2  # by default eight for each core, and each keeps what its threads have freed
TRIM_SECONDS = 300.0  # all waits meanwhile for 20 ms, and another millisecond where it allocates


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
        gc.collect()
        libc.malloc_trim(0)  # without Python's lock
