"""Heartbeats of a worker: they say that it is alive, and that it claims runs."""

from __future__ import annotations

import datetime as dt

from django.db import connection
from django.db.models.functions import Now

from conversations.models import ApiHeartbeat, WorkerHeartbeat

FORGOTTEN_AFTER = dt.timedelta(hours=1)
BEAT = """
INSERT INTO conversations_workerheartbeat (name, seen_at) VALUES (%s, statement_timestamp())
ON CONFLICT (name) DO UPDATE SET seen_at = excluded.seen_at
"""


def beat(worker: str) -> None:
    """Say that *worker* is alive and claims runs."""
    with connection.cursor() as cursor:
        cursor.execute(BEAT, [worker])


def end_heartbeat(worker: str) -> None:
    """Say that *worker* claims no more runs. One that dies has a last heartbeat, which soon is too old."""
    WorkerHeartbeat.objects.filter(pk=worker).delete()


def sweep_heartbeats() -> None:
    """Delete the heartbeats of workers, and of processes that answered programs, that have been gone for long."""
    ApiHeartbeat.objects.filter(seen_at__lt=Now() - FORGOTTEN_AFTER).delete()
    WorkerHeartbeat.objects.filter(seen_at__lt=Now() - FORGOTTEN_AFTER).delete()
