"""Memory of a process that takes large files: what is freed goes back to the system, not to the allocator's lists."""

from __future__ import annotations

import ctypes

M_MMAP_THRESHOLD, M_ARENA_MAX = -3, -8  # malloc.h of glibc
# With each large block that is freed glibc raises its threshold, up to 32 MB; blocks below it come from heaps that are
# cut only at their end. Set once, it stays.
MMAP_THRESHOLD_BYTES = 256 * 1024
ARENAS = 2  # by default eight for each core, and each keeps what its threads have freed


def return_freed_memory() -> None:
    """Let glibc's allocator give large blocks back at once. Elsewhere nothing is changed."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt:
        mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD_BYTES)
        mallopt(M_ARENA_MAX, ARENAS)
