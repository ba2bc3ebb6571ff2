from __future__ import annotations

from django.db import models
from django.db.models import Q


class TitleState(models.Model):
    """Whether a language model is still to write a conversation's title: once for each beginning that it has.

    It is to be written from *due_at* on, None once it was, and one *worker* does it, by a lease; each time is an
    *attempt*.
    """

    conversation = models.OneToOneField(
        "conversations.Conversation", on_delete=models.CASCADE, primary_key=True, related_name="title_state"
    )
    due_at = models.DateTimeField(null=True)
    attempt = models.PositiveSmallIntegerField(default=0)
    worker = models.CharField(max_length=100, blank=True)
    lease_until = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["due_at"], condition=~Q(due_at=None), name="title_due")]

    def __str__(self) -> str:
        return f"{self.conversation_id}: {self.due_at}"
