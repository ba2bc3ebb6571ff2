"""The worker's part of `/readyz`: whether a worker is alive, and how long replies wait for one.

Pages work without a worker, so what is found is never more than a degradation.
"""

from __future__ import annotations

from django.db import connection

from chatsite.health.probe import OK, Finding
from chatsite.health.readiness import register_probe
from conversations.selectors.figures.worker_status import WorkerStatus, worker_status

LONG_WAIT_SECONDS = 30.0
LONG_OVER_SECONDS = 15.0
UNKNOWN = Finding("degraded", "the database does not say whether a worker is alive")
LEASE_OVER = """
SELECT extract(epoch FROM statement_timestamp() - min(lease_until))::float8
FROM conversations_run WHERE state = 'running' AND lease_until < statement_timestamp()
"""


def register_worker_probe() -> None:
    register_probe("worker", _look, silence=UNKNOWN)


def _look() -> Finding:
    try:
        return judge_workers(worker_status(), lease_over_seconds())
    finally:
        connection.close()


def judge_workers(status: WorkerStatus, lease_over_seconds: float) -> Finding:
    if not status.is_alive:
        return Finding("degraded", f"no worker is alive; {status.waiting} replies wait for one")
    if (waited := status.oldest_waiting_seconds or 0.0) > LONG_WAIT_SECONDS:
        return Finding("degraded", f"a reply has waited for a worker for {waited:.0f} seconds")
    if lease_over_seconds > LONG_OVER_SECONDS:
        return Finding("degraded", f"the lease of a reply has been over for {lease_over_seconds:.0f} seconds")
    return OK


def lease_over_seconds() -> float:
    """Return how long the oldest lease is over."""
    with connection.cursor() as cursor:
        cursor.execute(LEASE_OVER)
        [seconds] = cursor.fetchone()
    return seconds or 0.0
