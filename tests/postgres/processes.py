"""Real processes that use the embedded database, and what can be seen of its server from outside."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from chatsite.postgres.embedded.server_files import ServerPaths, try_lock_exclusive
from tests.support.patience import PATIENCE_SECONDS, wait_for

PROJECT = Path(__file__).resolve().parents[2]
START_TIME = "SELECT pg_postmaster_start_time()"


class UserProcess:
    """A process that uses the database of *var_dir*; *prefix* is a command that runs it as another user."""

    def __init__(self, var_dir: Path, *, pool: bool = False, prefix: tuple[str, ...] = ()) -> None:
        self._process = subprocess.Popen(
            [*prefix, sys.executable, "-m", "tests.postgres.user_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd="/",
            env=os.environ
            | {
                "PYTHONPATH": str(PROJECT),
                "PYTHONDONTWRITEBYTECODE": "1",
                "DJANGO_SETTINGS_MODULE": "tests.postgres.tiny_settings",
                "VAR_DIR": str(var_dir),
                "POOL": "1" if pool else "",
            },
        )

    def send(self, line: str) -> None:
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def reply(self) -> dict[str, Any]:
        return json.loads(self._process.stdout.readline())

    def sql(self, statement: str) -> list[list[Any]]:
        """Return the rows of *statement*; an error fails the test."""
        self.send(f"sql {statement}")
        reply = self.reply()
        assert "rows" in reply, reply["error"]
        return reply["rows"]

    def error(self, line: str = "sql SELECT 1") -> str:
        self.send(line)
        return self.reply()["error"]

    def end(self) -> None:
        self._process.stdin.close()
        self._process.wait(timeout=PATIENCE_SECONDS)

    def wait(self) -> None:
        self._process.wait(timeout=PATIENCE_SECONDS)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(BrokenPipeError):
                pipe.close()


class SeenServer:
    """The server of *var_dir* as the machine shows it."""

    def __init__(self, var_dir: Path) -> None:
        self.paths = ServerPaths(var_dir / "postgres")

    @property
    def process_id(self) -> int:
        return int(self.paths.postmaster_pid.read_text().splitlines()[0])

    @property
    def keeper_id(self) -> int:
        return int(_ps("ppid", self.process_id))

    @property
    def user_id(self) -> int:
        return int(_ps("uid", self.process_id))

    @property
    def log(self) -> str:
        return self.paths.log.read_text()

    def is_gone(self) -> bool:
        """Say whether no process of the server or its keeper lives."""
        lock = try_lock_exclusive(self.paths.lock)
        if lock is not None:
            os.close(lock)
        return lock is not None

    def kill(self) -> None:
        """Kill the server, and then the keeper in case it has not noticed yet."""
        keeper_id = self.keeper_id
        os.kill(self.process_id, signal.SIGKILL)
        with suppress(ProcessLookupError):
            os.kill(keeper_id, signal.SIGKILL)
        wait_for(self.is_gone)


def _ps(column: str, process_id: int) -> str:
    shown = ["ps", "-o", f"{column}=", "-p", str(process_id)]
    return subprocess.run(shown, check=True, capture_output=True, text=True).stdout
