"""Whether this process, or its machine, has no file descriptor or no memory left for another connection."""

from __future__ import annotations

import errno
import os

EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})


def exhaustion_of(error: BaseException) -> str:
    """Return what was lacking where *error* came of it, as the system words it; empty if it came of something else."""
    seen: set[int] = set()
    causes: list[BaseException | None] = [error]
    while causes:
        cause = causes.pop()
        if cause is None or id(cause) in seen:
            continue
        seen.add(id(cause))
        if isinstance(cause, OSError) and cause.errno in EXHAUSTED:
            return os.strerror(cause.errno)
        causes += [cause.__cause__, cause.__context__]
        if isinstance(cause, BaseExceptionGroup):
            causes += cause.exceptions
    return ""


def find_exhaustion() -> str:
    """Return what is lacking now, empty if nothing is. A name that can't be looked up does not say that this is why."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return exhaustion_of(error)
    return ""
