"""The table of all checks, and how they are run: side by side, each in a thread, for so many seconds."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from django.db import connections

from chatsite.checkup import Line

from . import (
    backups,
    clocks,
    database,
    disks,
    mail,
    provider,
    proxy,
    redis,
    sandbox,
    searches,
    secret_keys,
    setting_values,
    workers,
)
from .options import Options


class Check(NamedTuple):
    """What is looked at: *seconds* is how long that may take."""

    look: Callable[[Options], Iterable[Line]]
    seconds: float


CHECKS: Mapping[str, Check] = {
    "settings": Check(setting_values.check_settings, 15),
    "secrets": Check(secret_keys.check_secrets, 5),
    "database": Check(database.check_database, 60),  # the embedded one may have to start, and to replay its log
    "redis": Check(redis.check_redis, 15),
    "provider": Check(provider.check_provider, 100),
    "mail": Check(mail.check_mail, 30),
    "proxy": Check(proxy.check_proxy, 40),
    "clocks": Check(clocks.check_clocks, 60),
    "disks": Check(disks.check_disks, 15),
    "backups": Check(backups.check_backups, 60),
    "workers": Check(workers.check_workers, 60),
    "sandbox": Check(sandbox.check_sandbox, 20),
    "embeddings": Check(searches.check_embeddings, 150),
    "web-search": Check(searches.try_web_search, 30),
    "mcp-servers": Check(searches.check_mcp_servers, 60),
}


def run_checks(
    subjects: Collection[str], options: Options, checks: Mapping[str, Check] = CHECKS
) -> Iterator[list[Line]]:
    """Yield what each check of *subjects* found, in the table's order. None waits for another, or stops it."""
    running = {subject: _start(subject, check, options) for subject, check in checks.items() if subject in subjects}
    began = time.monotonic()
    for subject, found in running.items():
        seconds = checks[subject].seconds
        try:
            yield found.get(timeout=max(0.0, began + seconds - time.monotonic()))
        except queue.Empty:
            yield [Line("bad", subject, f"There was no answer within {seconds:g} seconds.")]


def _start(subject: str, check: Check, options: Options) -> queue.Queue[list[Line]]:
    """Begin a check in a thread that the process does not wait for at its end."""
    found: queue.Queue[list[Line]] = queue.Queue()

    def look() -> None:
        lines: list[Line] = []
        try:
            lines.extend(check.look(options))
        except Exception as error:
            lines.append(Line("bad", subject, f"This could not be looked at ({type(error).__name__}): {error}"))
        finally:
            connections.close_all()
        found.put(lines)

    threading.Thread(target=look, name=f"doctor: {subject}", daemon=True).start()
    return found
