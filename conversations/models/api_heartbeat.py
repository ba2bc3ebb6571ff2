"""Heartbeats of the processes that make answers for programs: what a dead one has left open is settled."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now


class ApiHeartbeat(models.Model):
    """The last heartbeat of one process, by the database's clock, while it makes answers for programs."""

    name = models.CharField(max_length=100, primary_key=True)
    seen_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.name
