"""Errors of the embedded PostgreSQL.

django.db.OperationalError
└ PostgresDidNotStart      so that code that handles an unreachable database handles this, too
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

from django.db import OperationalError

LOG_TAIL_LINES = 15
LEAST_FREE_BYTES = 1_000_000


class PostgresDidNotStart(OperationalError):
    """The embedded server does not run and can't be started; the message ends with its output."""

    def __init__(self, reason: str, *, output: str = "") -> None:
        self.output = "\n".join(output.strip().splitlines()[-LOG_TAIL_LINES:])
        super().__init__(f"{reason}\n{self.output}" if self.output else reason)


def did_not_start(reason: str, *, log: Path) -> PostgresDidNotStart:
    """Return the error with the end of the server's log; on a full disk the server can't write that."""
    with suppress(OSError):
        if shutil.disk_usage(log.parent).free < LEAST_FREE_BYTES:
            reason = f"{reason} The disk of {log.parent} is full: make room on it, and start again."
    try:
        output = log.read_text(errors="replace")
    except OSError:
        output = ""
    return PostgresDidNotStart(f"{reason} The end of {log}:", output=output)
