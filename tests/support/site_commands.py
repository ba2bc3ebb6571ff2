"""Commands of a site as real processes, and all rows of its database before and after."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any

from tests.support.patience import PATIENCE_SECONDS
from tests.support.source import PROJECT

TABLES = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
NOTE_OF_A_MOVE = "windowseat_move"
FILL = """
from chatsite.accounts.models import User
from conversations.services.portability.chat_history import ChatHistory
for name in ("alice", "bob"):
    said = [{"role": role, "content": f"{name} {turn} \\u2708"} for turn in range(5) for role in ("user", "assistant")]
    ChatHistory.from_openai(user=User.objects.create(email=f"{name}@example.org", password="!"), messages=said)
"""


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


def run_site_command(*arguments, refused: bool = False, **settings) -> str:
    """Run a command, and return what it said."""
    process = start_command(*arguments, **settings)
    try:
        said, _ = process.communicate(timeout=PATIENCE_SECONDS)
    finally:
        process.kill()
    assert bool(process.returncode) == refused, said
    assert "Traceback" not in said
    return said


def read_settings(*names: str, **settings: object) -> tuple[object, ...]:
    """Return what the settings *names* of Django are where a site has *settings*."""
    program = f"from chatsite import settings; print(repr(tuple(getattr(settings, name) for name in {names!r})))"
    command = [sys.executable, "-c", program]
    said = subprocess.run(
        command, cwd=PROJECT, env=environment(settings), check=True, capture_output=True, text=True
    ).stdout
    told: tuple[object, ...] = ast.literal_eval(said)
    return told


def fill_site(**settings) -> None:
    """Give the site two people with a conversation each."""
    run_site_command("shell", "--verbosity", "0", "-c", FILL, **settings)


def rows_by_table(rows: Callable[[str], list[Mapping[str, Any]]]) -> dict[str, list[str]]:
    """Return table → its rows as text, in order. *rows* answers a statement, as `Database.rows` does."""
    names = sorted(row["relname"] for row in rows(TABLES))
    return {
        name: sorted(row["t"] for row in rows(f"SELECT t::text FROM {name} AS t"))
        for name in names
        if name != NOTE_OF_A_MOVE
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
