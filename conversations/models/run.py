from __future__ import annotations

from django.db import models
from django.db.models import Q


class RunState(models.TextChoices):
    WAITING = "waiting"
    RUNNING = "running"
    ENDED = "ended"


class Run(models.Model):
    """The making of one reply. A worker holds it by a lease; when that is over, the reaper ends the reply."""

    reply = models.OneToOneField("conversations.Message", on_delete=models.CASCADE, related_name="run")
    state = models.CharField(max_length=8, choices=RunState, default=RunState.WAITING)
    worker = models.CharField(max_length=100, blank=True)
    attempt = models.PositiveSmallIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    stop_requested_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["id"], condition=Q(state="waiting"), name="run_waiting"),
            models.Index(fields=["created_at"], name="run_by_time"),
            models.Index(fields=["lease_until"], condition=Q(state="running"), name="run_running"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=~Q(state="running") | Q(lease_until__isnull=False), name="run_running_has_a_lease"
            ),
        ]

    def __str__(self) -> str:
        return f"run {self.pk}: {self.state}"
