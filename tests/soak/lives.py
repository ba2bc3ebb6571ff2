"""The site's processes over hours: those that live on, those that end now and then, and what each takes."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from urllib.request import Request, urlopen

import psutil

from tests.faults.processes import SiteProcess
from tests.faults.sites import Site
from tests.support.patience import PATIENCE_SECONDS
from tests.support.ports import free_port

METRICS_TOKEN = "of-the-soak"
CONNECTIONS = "SELECT application_name, count(*) AS connections FROM pg_stat_activity GROUP BY application_name"
MEGABYTE = 2**20


@dataclass
class Life:
    """One process from its start to its end, under a name that its successor takes over."""

    name: str
    command: str
    number: int
    process: SiteProcess
    began: float = field(default_factory=time.time)
    port: str = ""

    @property
    def is_web(self) -> bool:
        return self.command == "serve"


class Lives:
    """Two web and two worker processes. The first of each kind lives on; the second may be ended."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self._lock = threading.Lock()
        self._ending: str = ""  # the name of the one that is being ended
        self.lives: dict[str, Life] = {}
        for command in ("serve", "run_worker"):
            for number in (1, 2):
                name = f"{'web' if command == 'serve' else 'worker'} {number}"
                self.lives[name] = self._start(name, command, 1, self._port(command, number))

    def _port(self, command: str, number: int) -> str:
        if command != "serve":
            return ""
        return self.site.settings["PORT"] if number == 1 else str(free_port())

    def _start(self, name: str, command: str, number: int, port: str) -> Life:
        settings = {"PGAPPNAME": name} | ({"PORT": port} if port else {})
        life = Life(name, command, number, self.site.start(command, **settings), port=port)
        if name == "web 1":
            self.site.process = life.process
        return life

    def addresses(self) -> list[str]:
        """Return where the site is served now, as a load balancer knows it: not where a process has just been ended."""
        return [
            f"http://127.0.0.1:{life.port}"
            for life in self.lives.values()
            if life.is_web and life.name != self._ending and life.process.lives
        ]

    def end_one(self, randomly: Random) -> dict[str, Any]:
        """End the second web or worker process, politely or not, start it again, and tell what was done."""
        with self._lock:
            name, how = randomly.choice(("web 2", "worker 2")), randomly.choice(("SIGTERM", "kill -9"))
            life = self.lives[name]
            began = time.time()
            if how == "SIGTERM":
                self._ending = name if life.is_web else ""
                life.process.terminate()
                status = life.process.wait()
            else:
                life.process.kill()
                self._ending, status = name, -9
            ended = time.time()
            self.lives[name] = self._start(name, life.command, life.number + 1, life.port)
            self._ending = ""
            return {
                "process": name,
                "life": life.number,
                "how": how,
                "status": status,
                "ending_seconds": round(ended - began, 2),
                "started_seconds": round(time.time() - ended, 2),
                "lived_minutes": round((began - life.began) / 60, 1),
            }

    def measure(self) -> Iterator[dict[str, Any]]:
        """Yield what each process takes now."""
        rows = self.site.database.rows(CONNECTIONS)
        connections = {row["application_name"]: row["connections"] for row in rows}
        for life in list(self.lives.values()):
            try:
                process = psutil.Process(life.process.process.pid)
                with process.oneshot():
                    spent = process.cpu_times()
                    cpu = spent.user + spent.system + spent.children_user + spent.children_system
                    yield {
                        "process": life.name,
                        "life": life.number,
                        "age_minutes": round((time.time() - life.began) / 60, 2),
                        "resident_mb": round(process.memory_info().rss / MEGABYTE, 2),
                        "anonymous_mb": round(anonymous_bytes(process.pid) / MEGABYTE, 2),
                        "html_cache_mb": round(html_cache_bytes(life) / MEGABYTE, 2),
                        "descriptors": process.num_fds(),
                        "threads": process.num_threads(),
                        "connections": connections.get(life.name, 0),
                        "cpu_seconds": round(cpu, 2),
                    }
            except (psutil.Error, OSError):
                continue  # it is being ended


def anonymous_bytes(process_id: int) -> int:
    """Return how much of the resident memory is no file's: libraries that are read for the first time are left out."""
    status = Path(f"/proc/{process_id}/status").read_text(encoding="ascii", errors="replace")
    return int(re.findall(r"^RssAnon:\s+(\d+) kB", status, re.MULTILINE)[0]) * 1024


def html_cache_bytes(life: Life) -> float:
    """Return what a web process keeps of drawn messages, by its own metric; 0 of a worker, which draws none."""
    if not life.is_web:
        return 0.0
    request = Request(f"http://127.0.0.1:{life.port}/metrics", headers={"Authorization": f"Bearer {METRICS_TOKEN}"})
    with urlopen(request, timeout=PATIENCE_SECONDS) as answer:
        return float(re.findall(r"^windowseat_html_cache_bytes (\S+)", answer.read().decode(), re.MULTILINE)[0])


def cpu_seconds(process_ids: list[int]) -> dict[int, float]:
    """Return the processor time so far of these processes and of their children that live, by process."""
    spent: dict[int, float] = {os.getpid(): sum(os.times()[:2])}
    for process_id in process_ids:
        try:
            process = psutil.Process(process_id)
            for each in (process, *process.children(recursive=True)):
                times = each.cpu_times()
                spent[each.pid] = times.user + times.system
        except psutil.Error:
            continue
    return spent
