"""A site as a process: what `make run` starts."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import contextmanager

from .patience import PATIENCE_SECONDS
from .source import PROJECT

COMMAND = [sys.executable, "manage.py", "serve"]


def environment(**changes) -> dict[str, str]:
    return {**os.environ, "DATABASE_URL": "", **{name: str(value) for name, value in changes.items()}}


@contextmanager
def serving(**changes):
    """Start the site, wait for its banner, yield (process, banner), and stop it."""
    process = subprocess.Popen(
        COMMAND, cwd=PROJECT, env=environment(**changes), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        yield process, read_banner(process)
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE_SECONDS)


def read_banner(process: subprocess.Popen[str]) -> str:
    """Return all that the process says until it is ready. One that is silent for too long is killed, and fails."""
    watchdog = threading.Timer(PATIENCE_SECONDS, process.kill)
    watchdog.start()
    shown = []
    try:
        for line in process.stdout:
            shown.append(line)
            if line.startswith("Stop it with"):
                return "".join(shown)
    finally:
        watchdog.cancel()
    raise AssertionError("the site ended before it was ready: " + "".join(shown))
