"""What the memory allocator says is in use, also by libpq."""

import ctypes

import pytest

ALLOCATOR_FIGURES = (
    "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
)  # fmt: skip


class AllocatorFigures(ctypes.Structure):
    """`struct mallinfo2` of glibc 2.33 and later."""

    _fields_ = [(name, ctypes.c_size_t) for name in ALLOCATOR_FIGURES]


def bytes_in_use():
    figures = getattr(ctypes.CDLL(None), "mallinfo2", None) or pytest.skip("needs glibc 2.33")
    figures.restype = AllocatorFigures
    found = figures()
    return found.uordblks + found.hblkhd
