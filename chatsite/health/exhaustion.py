"""Whether this process, or its machine, has no file descriptor, no memory or no thread left for another connection."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator

import psycopg

EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
NO_THREAD = "can't start new thread"  # as Python words it; the error has no class of its own
NO_MEMORY = "out of memory"  # as libpq words it, whose own errors have no code


def exhaustion_of(error: BaseException) -> str:
    """Return what the process lacked if that caused *error*, as the system words it; empty for another cause."""
    for cause in _causes(error):
        if isinstance(cause, OSError) and cause.errno in EXHAUSTED:
            return os.strerror(cause.errno)
        if isinstance(cause, RuntimeError) and str(cause) == NO_THREAD:
            return NO_THREAD
    return ""


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether a failed allocation in this process caused *error*; a smaller one may succeed."""
    return any(
        isinstance(cause, MemoryError)
        or (isinstance(cause, psycopg.Error) and cause.sqlstate is None and str(cause).startswith(NO_MEMORY))
        for cause in _causes(error)
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield *error* and all of its causes."""
    seen: set[int] = set()
    causes: list[BaseException | None] = [error]
    while causes:
        cause = causes.pop()
        if cause is None or id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        causes += [cause.__cause__, cause.__context__]
        if isinstance(cause, BaseExceptionGroup):
            causes += cause.exceptions


def find_exhaustion() -> str:
    """Return what is lacking now, empty if nothing is. A name that can't be looked up does not say that this is why."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return exhaustion_of(error)
    return ""
