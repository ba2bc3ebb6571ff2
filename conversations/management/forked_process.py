"""Run a part of a command in a process that is forked for it: what it loads and leaves in memory ends with it.

A fork takes some milliseconds, where a process of its own would load the site again.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import connections

from chatsite.parent_process import end_when_parent_ends

SIGNALLED = 128  # plus the number of the signal, as shells say it


@contextmanager
def forked(work: Callable[[], object]) -> Iterator[None]:
    """Run *work* in a forked process beside the body, and wait for it at the end.

    What it raises goes up in the forked process, which says it as the command does; this process ends with the same
    exit status then. To be used before this process has connections or threads. Other systems than Linux have
    libraries that don't outlive a fork: there it is run in this process, before the body.
    """
    if sys.platform != "linux":
        work()
        yield
        return
    child = _fork(work)
    try:
        yield
    except KeyboardInterrupt:
        os.kill(child, signal.SIGTERM)
        raise
    finally:
        _, status = os.waitpid(child, 0)
        if code := os.waitstatus_to_exitcode(status):
            sys.exit(code if code > 0 else SIGNALLED - code)


def _fork(work: Callable[[], object]) -> int:
    """Return the forked process's id; in that process, run *work* and end."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()  # or both would write what is in it
    parent = os.getpid()
    if child := os.fork():
        return child
    end_when_parent_ends(parent)
    try:
        work()
        for connection in connections.all(initialized_only=True):
            connection.close()
            connection.close_pool()  # type: ignore[attr-defined]  # PostgreSQL's
    except KeyboardInterrupt:
        os._exit(SIGNALLED + signal.SIGINT)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(0)
