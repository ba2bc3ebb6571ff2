"""The site's processes, started as users start them; what is killed here is really killed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from tests.ports import free_port
from tests.source import PROJECT

T = TypeVar("T")
START_SECONDS = 60


def wait_for(condition: Callable[[], T], *, seconds: float = 20, what: str = "") -> T:
    """Return what *condition* says as soon as that is true."""
    deadline = time.monotonic() + seconds
    while not (result := condition()):
        assert time.monotonic() < deadline, f"{what or condition} did not come true in {seconds} s"
        time.sleep(0.02)
    return result


class SiteProcess:
    """A process of the site: `manage.py serve` or `manage.py run_worker`; its words go to *log*."""

    def __init__(self, command: str, environment: dict[str, str], log: Path) -> None:
        self.log = log
        self._said_before = log.stat().st_size if log.exists() else 0
        with log.open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", command],
                cwd=PROJECT,
                env=os.environ | environment,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        wait_for(self._is_ready, seconds=START_SECONDS, what=f"{command} is ready")

    def _is_ready(self) -> bool:
        said = self.log.read_bytes()[self._said_before :]
        assert self.process.poll() is None, said.decode()
        return b"Stop it with" in said

    def kill(self) -> None:
        """End the process as a power cut would."""
        self.process.kill()
        self.process.wait()

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def wait(self, *, seconds: float) -> int:
        return self.process.wait(timeout=seconds)

    def end(self) -> None:
        with suppress(ProcessLookupError):
            self.kill()

    def is_idle(self) -> bool:
        """Tell whether the process uses less than a fifth of a core, looking for a moment."""
        before = self._cpu_ticks()
        time.sleep(0.3)
        return (self._cpu_ticks() - before) / os.sysconf("SC_CLK_TCK") < 0.06

    def _cpu_ticks(self) -> int:
        times = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return int(times[11]) + int(times[12])

    @property
    def memory_mb(self) -> float:
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


class RedisProcess:
    """A redis-server that keeps nothing, on a port of its own."""

    def __init__(self, path: str) -> None:
        self._path, self.port = path, free_port()
        self.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        self.process = subprocess.Popen([self._path, *options], stdout=subprocess.DEVNULL, cwd="/")
        wait_for(self._answers, what="Redis answers")

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
