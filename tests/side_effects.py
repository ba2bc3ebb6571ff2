"""Tools that change something, as a site may have them of its own: `TOOL_MODULES=tests.side_effects`.

Each run of one leaves a line in the file that `NOTES_FILE` names, so what is counted is what was really run. One that
is told to wait does so before it returns, for as long as there is the file beside it whose name ends in `.wait`.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from conversations.tools.registry import tool

NOTES_FILE = "NOTES_FILE"
LONGEST_WAIT_SECONDS = 60


@tool(asks=True)
def write_down(note: str, waits: bool = False) -> str:
    """Write a note down for good."""
    return _write(note, waits=waits)


@tool
def count_up(note: str, waits: bool = False) -> str:
    """Count something. Nobody is asked about it."""
    return _write(note, waits=waits)


def _write(note: str, *, waits: bool) -> str:
    path = Path(os.environ[NOTES_FILE])
    with path.open("a", encoding="utf-8") as notes:
        notes.write(f"{note}\n")
    if waits:
        _wait_while(path.with_suffix(".wait"))
    return f"Written down: {note}"


def _wait_while(path: Path) -> None:
    until = time.monotonic() + LONGEST_WAIT_SECONDS
    while path.exists() and time.monotonic() < until:
        time.sleep(0.01)
