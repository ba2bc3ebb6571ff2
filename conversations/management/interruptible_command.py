"""A command that Ctrl-C and SIGTERM end as an error does: what it has begun is cleared away, its programs end."""

from __future__ import annotations

import signal
import sys
from types import FrameType
from typing import NoReturn

from django.core.management.base import BaseCommand

EXIT_STATUS = 128  # plus the number of the signal, as shells say it


class InterruptibleCommand(BaseCommand):
    """Run from the command line it takes signals; called by other code it leaves them as they are."""

    def run_from_argv(self, argv: list[str]) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, _interrupt)
        try:
            super().run_from_argv(argv)
        except KeyboardInterrupt as interrupt:
            number = signal.Signals(interrupt.args[0] if interrupt.args else signal.SIGINT)
            self.stderr.write(f"Ended by {number.name}.")
            sys.exit(EXIT_STATUS + number)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # one is enough
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a second Ctrl-C waits no longer
    raise KeyboardInterrupt(number)
