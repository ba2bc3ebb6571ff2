"""Worker status: whether a run worker is alive, and how long the oldest run has waited for one."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import connection

from conversations.models.worker_heartbeat import HEARTBEAT_VALID

STATUS = """
SELECT (SELECT count(*) FROM conversations_workerheartbeat
        WHERE seen_at > statement_timestamp() - make_interval(secs => %s)),
       (SELECT extract(epoch FROM statement_timestamp() - max(seen_at))::float8 FROM conversations_workerheartbeat),
       count(*), extract(epoch FROM statement_timestamp() - min(waiting_since))::float8
FROM conversations_run WHERE state = 'waiting'
"""


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """How many workers are alive, and what waits for one.

    *last_seen_seconds* is how long ago the newest heartbeat was, None where there is none. *oldest_waiting_seconds* is
    how long the run that has waited longest waits; None where none waits.
    """

    alive: int
    last_seen_seconds: float | None
    waiting: int
    oldest_waiting_seconds: float | None

    @property
    def is_alive(self) -> bool:
        """Whether any worker is alive."""
        return self.alive > 0


def worker_status() -> WorkerStatus:
    """Return which workers are alive and what waits for them, in one cheap statement, by the database's clock."""
    with connection.cursor() as cursor:
        cursor.execute(STATUS, [HEARTBEAT_VALID.total_seconds()])
        return WorkerStatus(*cursor.fetchone())
