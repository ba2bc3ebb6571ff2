"""`python -m tests.soak --hours 2 --seed N`: mixed traffic for hours, and what the processes take meanwhile.

Two web and two worker processes, an embedded PostgreSQL and a redis-server of the run's own, and the fake provider of
the tests. People send, stop, regenerate, upload, search, export, sign out and close tabs; every few minutes a process
is ended by SIGTERM or kill -9 and started again, but the first web process and the first worker live on. Every ten
minutes people pause, and all that tests/faults checks after a fault is checked here. It goes slowly on purpose: pauses
are lengthened until all of it together takes about as much of a core as `--cpu` says.

Lines of JSON go to `soak.jsonl` in the output folder as they come, the table to `soak.md` and to the terminal at the
end; `--table FILE` makes it of any such file, also of one that is still being written.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import shutil
import signal
import sys
import threading
import time
import traceback
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "chatsite.settings"
os.environ |= {"ENV_FILE": os.devnull, "DATABASE_URL": "", "REDIS_URL": ""}
django.setup()

from tests.faults.__main__ import present_commit  # noqa: E402
from tests.faults.conftest import UNEXPECTED, checked  # noqa: E402
from tests.faults.frail_server import FrailServer, run_frail_server  # noqa: E402
from tests.faults.processes import RedisProcess  # noqa: E402
from tests.faults.sites import Site, configured  # noqa: E402
from tests.soak.lives import METRICS_TOKEN, Lives, cpu_seconds  # noqa: E402
from tests.soak.people import LANGUAGE_MODELS, Person  # noqa: E402
from tests.soak.table import make_table, read_lines  # noqa: E402
from tests.support.source import PROJECT  # noqa: E402
from tests.support.upstream import serve_upstream  # noqa: E402

SAMPLE_SECONDS = 60
ROUND_MINUTES = 10
FAULT_MINUTES = 3.5  # on average
PAUSE_SECONDS = (2.0, 120.0)  # least and most, between two actions of a person
PICTURES = "vision=yes picture_tokens=300"
REPLIES = "SELECT count(*) FROM conversations_message WHERE role = 'assistant' AND id > %s"


class Soak:
    def __init__(self, site: Site, server: FrailServer, redis: RedisProcess, options: argparse.Namespace) -> None:
        self.site, self.server, self.redis, self.options = site, server, redis, options
        self.randomly = Random(options.seed)
        self.lives = Lives(site)
        self.pause_seconds = 8.0
        self.ended = threading.Event()
        self._file = (options.output / "soak.jsonl").open("a", encoding="utf-8")
        self._writing = threading.Lock()
        self._cpu = (time.time(), self._count_cpu())
        self._log_read = 0
        self.write(
            "begin",
            hours=options.hours,
            seed=options.seed,
            people=options.people,
            day=dt.datetime.now(dt.UTC).date().isoformat(),
            commit=present_commit(),
        )
        seeds = [Random(self.randomly.getrandbits(64)) for _ in range(options.people)]
        self.people = [Person(site, self.lives.addresses, each) for each in seeds]

    def write(self, kind: str, **fields: Any) -> None:
        with self._writing:
            self._file.write(json.dumps({"kind": kind, "at": time.time(), **fields}) + "\n")
            self._file.flush()

    def run(self) -> None:
        """Rounds until the time is over. Raises `KeyboardInterrupt` when it is broken off."""
        until = time.monotonic() + self.options.hours * 3600
        sampling = threading.Thread(target=self._sample, daemon=True)
        sampling.start()
        try:
            while (left := until - time.monotonic()) > 0:
                self._run_round(min(left, self.options.round_minutes * 60))
            self.write("end")
        finally:
            self.ended.set()
            sampling.join()

    def _run_round(self, seconds: float) -> None:
        """Let people do things for so long, and check everything after that."""
        before, failed, over = self.site.newest_message(), "", threading.Event()
        try:
            with checked(self.site):
                threads = [
                    threading.Thread(target=person.live, args=(over, lambda: self.pause_seconds, self._report))
                    for person in self.people
                ]
                threads.append(threading.Thread(target=self._end_processes, args=(over,)))
                for thread in threads:
                    thread.start()
                try:
                    time.sleep(seconds)
                finally:
                    over.set()
                    for thread in threads:
                        thread.join()
        except Exception as error:  # the next round goes on; the table says so
            failed = describe(error)
            for page in self.site.pages:
                page.drop()
            self.site.pages.clear()
        said = self.site.log.read_text(errors="replace")[self._log_read :]
        self._log_read += len(said)
        self.write(
            "check",
            failed=failed,
            messages=self.site.database.value(REPLIES, before),
            tracebacks=len(UNEXPECTED.findall(said)),
            log_kb=self.site.log.stat().st_size // 1000,
        )

    def _report(self, **fields: Any) -> None:
        self.write("problem", **fields)

    def _end_processes(self, over: threading.Event) -> None:
        while not over.wait(60 * self.options.fault_minutes * self.randomly.uniform(0.5, 1.5)):
            self.write("fault", **self.lives.end_one(self.randomly))

    def _sample(self) -> None:
        while True:
            try:
                samples = list(self.lives.measure())
            except Exception as error:  # a measurement that fails ends nothing
                self.write("problem", action="measure", began=time.time(), error=str(error))
                samples = []
            for each in samples:
                self.write("sample", **each)
            self._keep_pace()
            self.write("actions", done=dict(sum((person.done for person in self.people), Counter())))
            if self.ended.wait(SAMPLE_SECONDS):
                return

    def _count_cpu(self) -> dict[int, float]:
        own = [life.process.process.pid for life in self.lives.lives.values()]
        return cpu_seconds([*own, self.server.process_id, self.redis.process.pid])

    def _keep_pace(self) -> None:
        """Lengthen or shorten the pauses until all takes as much of a core as it may."""
        (then, before), (now, after) = self._cpu, (time.time(), self._count_cpu())
        self._cpu = (now, after)
        spent = sum(seconds - before.get(process, 0) for process, seconds in after.items())
        share = 100 * spent / max(now - then, 1)
        self.write("pace", cpu_percent=round(share, 1), pause_seconds=round(self.pause_seconds, 1))
        self.pause_seconds *= min(2.0, max(0.5, share / self.options.cpu))
        self.pause_seconds = min(max(self.pause_seconds, PAUSE_SECONDS[0]), PAUSE_SECONDS[1])


def describe(error: Exception) -> str:
    """Return what was wrong, and what stood where it was seen: an assertion alone says nothing outside pytest."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    frame = [frame for frame, _ in traceback.walk_tb(error.__traceback__)][-1]
    seen = {name: value for name, value in frame.f_locals.items() if name not in ("site", "pages", "log", "replies")}
    return f"{type(error).__name__}: {error} at {Path(place.filename).name}:{place.lineno} {place.line} {seen}"[:3000]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--hours", type=float, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--people", type=int, default=10)
    parser.add_argument("--cpu", type=float, default=20, help="per cent of one core that all of it takes (20)")
    parser.add_argument("--round-minutes", type=float, default=ROUND_MINUTES, help="minutes between two checks (10)")
    parser.add_argument("--fault-minutes", type=float, default=FAULT_MINUTES, help="minutes between two ends (3.5)")
    parser.add_argument("--output", type=Path, default=PROJECT / "var" / "soak", help="a folder (var/soak)")
    parser.add_argument("--table", type=Path, help="only make the table of this file")
    options = parser.parse_args()
    if options.table:
        print(make_table(read_lines(options.table)))
        return
    options.output.mkdir(parents=True, exist_ok=True)
    for name in ("soak.jsonl", "site.log"):  # of the run before
        (options.output / name).unlink(missing_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("It is broken off."))
    try:
        run(options)
    finally:
        table = make_table(read_lines(options.output / "soak.jsonl"))
        (options.output / "soak.md").write_text(table, encoding="utf-8")
        print(table)


def run(options: argparse.Namespace) -> None:
    redis = RedisProcess(shutil.which("redis-server") or sys.exit("needs redis-server: apt-get install redis-server"))
    with run_frail_server() as server, serve_upstream() as upstream:
        settings = {
            "REDIS_URL": redis.url,
            "RUN_WORKER": "off",
            "METRICS_TOKEN": METRICS_TOKEN,
            "LANGUAGE_MODELS": ", ".join(
                f"{configured(name)} vision=yes picture_tokens=300" for name in LANGUAGE_MODELS
            ),
        }
        site = Site(server.database, upstream, options.output, **settings)
        try:
            Soak(site, server, redis, options).run()
        finally:
            site.end()
            redis.kill()


if __name__ == "__main__":
    main()
