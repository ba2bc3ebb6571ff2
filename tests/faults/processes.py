"""The site's processes, started as users start them; what is killed here is really killed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO

from tests.support.patience import PATIENCE_SECONDS, wait_for
from tests.support.ports import free_port
from tests.support.source import PROJECT


class SiteProcess:
    """A process of the site: `manage.py serve` or `manage.py run_worker`; its words go to *log*.

    With a *collector* they go through that, as those of a container do. *checkout* is where its code is.
    """

    def __init__(
        self,
        command: str,
        environment: dict[str, str],
        log: Path,
        *,
        collector: LogCollector | None = None,
        checkout: Path = PROJECT,
    ) -> None:
        self.log = log
        self._said_before = log.stat().st_size if log.exists() else 0
        with collector.take_pipe() if collector else log.open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", command],
                cwd=checkout,
                env=os.environ | environment,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        wait_for(self._is_ready, f"{command} is ready")

    def _is_ready(self) -> bool:
        assert self.lives, self.log.read_text()
        return self.has_said("Stop it with")

    @property
    def lives(self) -> bool:
        return self.process.poll() is None

    def has_said(self, words: str) -> bool:
        """Tell whether *words* are in the log since this process was started."""
        return words.encode() in self.log.read_bytes()[self._said_before :]

    def kill(self) -> None:
        """End the process as a power cut would."""
        self.process.kill()
        self.process.wait()

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def wait(self) -> int:
        return self.process.wait(timeout=PATIENCE_SECONDS)

    def end(self) -> None:
        with suppress(ProcessLookupError):
            self.kill()

    def forget_peak(self) -> None:
        """Let the most memory that the process has taken be what it takes now."""
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    @property
    def peak_memory_mb(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024

    @property
    def memory_mb(self) -> float:
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


class LogCollector:
    """A process that writes into *log* what comes through its pipe, until it is killed."""

    def __init__(self, log: Path) -> None:
        with log.open("ab") as output:
            self._process = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=output)

    def take_pipe(self) -> IO[bytes]:
        """Return the pipe's writing end: once the caller has closed it, only those who inherited it can write."""
        assert self._process.stdin
        return self._process.stdin

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


class RedisProcess:
    """A redis-server that keeps nothing, on a port of its own, with further *options*."""

    def __init__(self, path: str, *options: str) -> None:
        self._path, self._options, self.port = path, options, free_port()
        self.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        self.process = subprocess.Popen([self._path, *options, *self._options], stdout=subprocess.DEVNULL, cwd="/")
        wait_for(self.answers, "Redis answers")

    def answers(self, *, seconds: float = PATIENCE_SECONDS) -> bool:
        """Return whether it answers within so many *seconds*."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
