"""Gauges of the whole site, for metrics: workers, runs by state, ages of queue and leases, money reserved, pools.

They are read in one statement when metrics are scraped, at most once in `KEPT_SECONDS`, and backups in one more where
they are scheduled. Where processes share metrics, each writes down its own pool every few seconds, and what is scraped
is the sum.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache
from typing import Any

from django.conf import settings
from django.db import connection, connections
from prometheus_client import Gauge
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from chatsite.health.database_probe import NO_ANSWER
from chatsite.health.readiness import readiness
from conversations.metrics import are_metrics_shared
from conversations.models.worker_heartbeat import HEARTBEAT_VALID

from .backup_status import backup_status

KEPT_SECONDS = 5.0
RUN_STATES = ("waiting", "running", "awaiting_approval")
GAUGES = """
SELECT count(*) FILTER (WHERE state = 'waiting'), count(*) FILTER (WHERE state = 'running'),
       count(*) FILTER (WHERE state = 'awaiting_approval'),
       coalesce(extract(epoch FROM statement_timestamp() - min(waiting_since) FILTER (WHERE state = 'waiting')), 0),
       coalesce(extract(epoch FROM statement_timestamp() - min(lease_until) FILTER (WHERE state = 'running')), 0),
       (SELECT coalesce(sum(reserved_usd), 0) FROM conversations_spending WHERE user_id IS NULL AND period = 'day'
        AND begins_on >= current_date - 1),
       (SELECT count(*) FROM conversations_workerheartbeat
        WHERE seen_at > statement_timestamp() - make_interval(secs => %s))
FROM conversations_run WHERE state <> 'ended'
"""
POOL = {
    "pool_size": "Connections of this process to PostgreSQL.",
    "pool_available": "Connections of this process that are not in use.",
    "requests_waiting": "Threads of this process that wait for a connection.",
    "requests_num": "Connections that were asked for, since the start.",
    "requests_queued": "Connections that had to be waited for, since the start.",
    "requests_wait_ms": "Milliseconds that they were waited for, since the start.",
    "requests_errors": "Connections that were asked for in vain, since the start.",
}


class LiveGauges(Collector):
    """Reads the gauges when metrics are scraped. While the database is away, those that it knows are missing."""

    def __init__(self) -> None:
        self._read_at = float("-inf")
        self._row: tuple[Any, ...] | None = None

    def describe(self) -> Iterator[Metric]:
        return iter(())  # nothing is read before the first scrape

    def collect(self) -> Iterator[Metric]:
        ready = readiness()
        # It would be waited for in vain, for longer than some scrapes wait; they would call the process down.
        is_silent = ready.findings["database"] == NO_ANSWER
        if not is_silent and (row := self._current_row()) is not None:
            *runs, queue_seconds, lease_over_seconds, reserved_usd, workers, backup = row
            family = GaugeMetricFamily("windowseat_runs", "Runs that have not ended, by state.", labels=["state"])
            for state, number in zip(RUN_STATES, runs, strict=True):
                family.add_metric([state], number)
            yield family
            yield _gauge("workers_alive", "Workers that claim runs.", workers)
            yield _gauge("queue_age_seconds", "How long the run that has waited longest waits.", queue_seconds)
            yield _gauge(
                "lease_over_seconds",
                "How long the oldest lease is over; below 0 while all hold.",
                lease_over_seconds,
            )
            yield _gauge("reserved_usd", "US dollars held for requests and tool loops under way.", reserved_usd)
            if backup:
                yield _gauge("backup_failed", "1 while the last scheduled backup failed, else 0.", backup.has_failed)
            if backup and backup.age_seconds is not None:
                yield _gauge("backup_age_seconds", "How old the newest scheduled backup is.", backup.age_seconds)
        yield _gauge("ready", "1 while /readyz answers 200, 0 while it answers 503.", ready.is_ready)
        for name, number in () if are_metrics_shared() else _pool_figures().items():
            yield _gauge(f"database_{name}", POOL[name], number)

    def _current_row(self) -> tuple[Any, ...] | None:
        if time.monotonic() - self._read_at > KEPT_SECONDS:
            self._row, self._read_at = _read_gauges(), time.monotonic()
        return self._row


def _read_gauges() -> tuple[Any, ...] | None:
    try:
        with connection.cursor() as cursor:
            cursor.execute(GAUGES, [HEARTBEAT_VALID.total_seconds()])
            row = cursor.fetchone()
        return *row, backup_status() if settings.BACKUP_EVERY_HOURS else None
    except Exception:  # whatever is wrong with the database, the metrics of the process are told
        return None


def _pool_figures() -> dict[str, int]:
    pool = getattr(connections["default"], "pool", None)
    figures = pool.get_stats() if pool else {}
    return {name: figures.get(name, 0) for name in POOL} if figures else {}


def note_pool_figures() -> None:
    """Write this process's pool down, for all that share metrics."""
    gauges = _pool_gauges()
    for name, number in _pool_figures().items():
        gauges[name].set(number)


@cache
def _pool_gauges() -> dict[str, Gauge]:
    return {
        name: Gauge(f"windowseat_database_{name}", help_, registry=None, multiprocess_mode="livesum")
        for name, help_ in POOL.items()
    }


def _gauge(name: str, help_: str, value: float) -> Metric:
    return GaugeMetricFamily(f"windowseat_{name}", help_, value=float(value))
