"""Tools that change something, as a site may have them of its own: `TOOL_MODULES=tests.support.side_effects`.

Each run of one leaves a line in the file that `NOTES_FILE` names, so what is counted is what was really run. One that
is told to wait does so before it returns, for as long as there is the file beside it whose name ends in `.wait`.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from conversations.tools.registry import tool

NOTES_FILE, HOLD = "NOTES_FILE", ".wait"
LONGEST_WAIT_SECONDS = 600  # for who is never told to go on, because the test has failed


class Notes:
    """What the tools have written into a file, seen from the test."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._hold = path.with_suffix(HOLD)

    @property
    def lines(self) -> list[str]:
        return self.path.read_text().splitlines() if self.path.exists() else []

    def hold(self) -> None:
        """Let no tool return from now on that is told to wait."""
        self._hold.touch()

    def let_go(self) -> None:
        self._hold.unlink(missing_ok=True)

    def clear(self) -> None:
        self.path.unlink(missing_ok=True)
        self.let_go()


@tool(needs_approval=True)
def write_down(note: str, waits: bool = False) -> str:
    """Write a note down."""
    return _write(note, waits=waits)


@tool
def count_up(note: str, waits: bool = False) -> str:
    """Count something. It needs no approval."""
    return _write(note, waits=waits)


def _write(note: str, *, waits: bool) -> str:
    path = Path(os.environ[NOTES_FILE])
    with path.open("a", encoding="utf-8") as notes:
        notes.write(f"{note}\n")
    if waits:
        _wait_while(path.with_suffix(HOLD))
    return f"Written down: {note}"


def _wait_while(path: Path) -> None:
    until = time.monotonic() + LONGEST_WAIT_SECONDS
    while path.exists() and time.monotonic() < until:
        time.sleep(0.01)
