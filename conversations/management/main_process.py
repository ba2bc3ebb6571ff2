"""A child's side of the line to the main process, which `supervisor` holds."""

from __future__ import annotations

import argparse
import os
import signal
import socket
import threading
from contextlib import suppress

from .ending import end_within


class MainProcess:
    """The process that started this one. When it is gone this one ends, as if it had been told to stop."""

    def __init__(self, line: int, *, ending_seconds: float) -> None:
        self._line = socket.socket(fileno=line)
        self._line.set_inheritable(False)
        self._ending_seconds = ending_seconds
        threading.Thread(target=self._end_with_it, name="main process", daemon=True).start()

    def say_ready(self) -> None:
        with suppress(OSError):  # then it is gone
            self._line.send(b"1")

    def _end_with_it(self) -> None:
        with suppress(OSError):
            self._line.recv(1)  # which comes only when the other end is closed
        os.kill(os.getpid(), signal.SIGTERM)
        end_within(self._ending_seconds)


def add_descriptor(parser: argparse.ArgumentParser, name: str) -> None:
    """Let the command take a descriptor that it inherits from the main process. No one else can give it one."""
    parser.add_argument(name, type=int, help=argparse.SUPPRESS)
