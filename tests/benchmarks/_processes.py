"""Processes that a benchmark starts, and the CPU time that processes have used."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psutil

from tests.support.source import PROJECT


@contextmanager
def started(*arguments: str, ready: str, **environment: str) -> Iterator[tuple[psutil.Process, str]]:
    """Run Python with *arguments*; yield the process and its first line that matches *ready*, and stop it."""
    process = subprocess.Popen(
        [sys.executable, *arguments], cwd=PROJECT, env=os.environ | environment, stdout=subprocess.PIPE, text=True
    )
    try:
        line = next((line for line in process.stdout or () if re.match(ready, line)), None)
        if line is None:
            raise RuntimeError(f"{' '.join(arguments)} ended before it was ready")
        yield psutil.Process(process.pid), line.strip()
    finally:
        process.terminate()
        process.communicate()


def cpu_seconds(process: psutil.Process) -> float:
    """Return what *process* and its descendants have used, those that have ended included."""
    times = process.cpu_times()
    used = times.user + times.system + times.children_user + times.children_system
    for child in process.children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            own = child.cpu_times()
            used += own.user + own.system
    return used
