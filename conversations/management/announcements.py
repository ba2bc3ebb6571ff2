"""What the commands that run for weeks tell their operator, where anything takes their words.

A collector of logs may have ended meanwhile, or the log's disk may be full: no reason not to start, nor to leave
replies behind at the end.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any, TextIO

from django.core.management.base import BaseCommand, OutputWrapper


class LongRunningCommand(BaseCommand):
    """A management command that runs for weeks. Warnings of system checks are left out where they can't be written."""

    def __init__(self, stdout: TextIO | None = None, stderr: TextIO | None = None, **options: Any) -> None:
        super().__init__(stdout, stderr, **options)
        self.stderr = _UncertainOutput(stderr or sys.stderr)
        self.stderr.style_func = self.style.ERROR


class _UncertainOutput(OutputWrapper):
    """Output that may lead nowhere."""

    def write(self, *arguments: Any, **options: Any) -> None:  # type: ignore[override]  # of the class's own stub
        with suppress(OSError):
            super().write(*arguments, **options)


def announce(words: str) -> None:
    """Print *words*, if anything still takes what goes to standard output."""
    with suppress(OSError):
        print(words, flush=True)
