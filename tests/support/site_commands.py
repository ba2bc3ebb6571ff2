"""Commands of a site as real processes, and all rows of its database before and after."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.faults.databases import Database
from tests.support.patience import PATIENCE_SECONDS
from tests.support.source import PROJECT

TABLES = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
FILL = """
from chatsite.accounts.models import User
from conversations.services.portability.chat_history import ChatHistory
for name in ("alice", "bob"):
    said = [{"role": role, "content": f"{name} {turn} \\u2708"} for turn in range(5) for role in ("user", "assistant")]
    ChatHistory.from_openai(user=User.objects.create(email=f"{name}@example.org", password="!"), messages=said)
"""


def start_command(*arguments, **settings) -> subprocess.Popen[str]:
    """Start a command with *settings* as its environment."""
    return subprocess.Popen(
        [sys.executable, "manage.py", *map(str, arguments)],
        cwd=PROJECT,
        env={**os.environ, "ENV_FILE": os.devnull, **{name: str(value) for name, value in settings.items()}},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
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


def fill_site(**settings) -> None:
    """Give the site two people with a conversation each."""
    run_site_command("shell", "--verbosity", "0", "-c", FILL, **settings)


def rows_by_table(database: Database) -> dict[str, list[str]]:
    """Return all rows of all tables of the site as text."""
    tables = [row["relname"] for row in database.rows(TABLES)]
    return {
        name: sorted(row["t"] for row in database.rows(f"SELECT t::text FROM {name} AS t"))
        for name in tables
        if name != "windowseat_move"
    }
