"""Commands of backups as real processes, and what is compared after them: all rows of a database, as text."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any

from tests.support.source import PROJECT

TABLES = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"


def environment(settings: Mapping[str, object]) -> dict[str, str]:
    """Return that of a command with these *settings* and no others."""
    return {**os.environ, "ENV_FILE": os.devnull, **{name: str(value) for name, value in settings.items()}}


def start_command(*arguments: object, **settings: object) -> subprocess.Popen[str]:
    """Start `manage.py` with *arguments* in a session of its own."""
    return subprocess.Popen(
        [sys.executable, "manage.py", *map(str, arguments)],
        cwd=PROJECT,
        env=environment(settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def rows_of(rows: Callable[[str], list[Mapping[str, Any]]]) -> dict[str, list[str]]:
    """Return table → its rows as text, in order. *rows* answers a statement, as `Database.rows` does."""
    return {
        name: sorted(row["t"] for row in rows(f"SELECT t::text FROM {name} AS t"))
        for name in sorted(row["relname"] for row in rows(TABLES))
    }


def processes_of(command: str, *, parent: int | None = None) -> dict[int, str]:
    """Return process id → arguments of the running programs *command*, of all or of one *parent*."""
    shown = subprocess.run(
        ["ps", "-A", "-ww", "-o", "pid=,ppid=,comm=,args="], check=True, capture_output=True, text=True
    ).stdout
    found = (line.split(None, 3) for line in shown.splitlines())
    return {
        int(process): arguments
        for process, parent_of, name, arguments in (each for each in found if len(each) == 4)
        if name == command and parent in (None, int(parent_of))
    }
