from __future__ import annotations

from django.db import models
from django.db.models import Q


class SummaryState(models.Model):
    """Whether another version of a conversation's summary is to be written, and how that goes.

    It is to be written from *due_at* on, and one *worker* does it, by a lease; each time is an *attempt*. *error_code*
    says why the last one failed, until one succeeds. *revision* counts what makes a version that is being written
    useless: the owner's edits, exclusions, and changes of the path.
    """

    conversation = models.OneToOneField(
        "conversations.Conversation", on_delete=models.CASCADE, primary_key=True, related_name="summary_state"
    )
    revision = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField(null=True)
    attempt = models.PositiveSmallIntegerField(default=0)
    worker = models.CharField(max_length=100, blank=True)
    lease_until = models.DateTimeField(null=True)
    error_code = models.CharField(max_length=50, blank=True)
    error_params = models.JSONField(default=dict)

    class Meta:
        indexes = [models.Index(fields=["due_at"], condition=~Q(due_at=None), name="summary_due")]

    def __str__(self) -> str:
        return f"{self.conversation_id}: {self.due_at}"
