"""Heartbeats of run workers: which are alive, also while they hold no run."""

from __future__ import annotations

import datetime as dt

from django.db import models
from django.db.models.functions import Now

HEARTBEAT_VALID = dt.timedelta(seconds=10)  # as long as a lease: then a silent worker is taken for dead


class WorkerHeartbeat(models.Model):
    """The last heartbeat of one worker process that claims runs, by the database's clock. One that drains has none."""

    name = models.CharField(max_length=100, primary_key=True)
    seen_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.name
