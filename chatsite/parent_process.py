"""Let a process end with the one that started it, however that ends: what it was to do is wanted no more.

Only Linux has a means to it. Elsewhere such a process ends by itself, once it has done what it was told.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable

PARENT = "--parent"  # an option of commands that end with the process which started them
PR_SET_PDEATHSIG = 1  # prctl(2)


def bind_to_parent() -> Callable[[], object] | None:
    """Return the `preexec_fn` of a process that is killed when this one ends; None where nothing can do that.

    The kernel goes by the thread that starts it: one that lives until the process has ended.
    """
    if sys.platform != "linux":
        return None
    parent, set_option = os.getpid(), ctypes.CDLL(None).prctl  # looked up before the process is parted from this one

    def bind() -> None:
        set_option(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it has ended meanwhile
            os._exit(1)

    return bind


def end_when_parent_ends(parent: int) -> None:
    """Let this process get SIGTERM when *parent*, the process that started it, ends; at once if it is gone already."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)
