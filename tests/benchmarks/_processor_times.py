"""Processor time of a benchmark and of PostgreSQL's process for it. Other work on the machine changes little of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class ProcessorTimes:
    """Processor time of this process and of PostgreSQL's for its connection, in seconds, by what took it."""

    def __init__(self, connection: Any) -> None:
        self.seconds: dict[str, float] = {}
        self.counts: dict[str, int] = {}
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            self._statistics = Path(f"/proc/{cursor.fetchone()[0]}/schedstat")

    @contextmanager
    def taken(self, name: str) -> Iterator[None]:
        began = self._now()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + self._now() - began
        self.counts[name] = self.counts.get(name, 0) + 1

    def _now(self) -> float:
        return time.process_time() + int(self._statistics.read_text().split()[0]) / 1e9
