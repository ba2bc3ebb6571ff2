"""Requests of programs that may be sent again, and the answers that are kept for that: idempotency."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


class IdempotentRequest(models.Model):
    """A request of a program, stored so that the same one sent again joins its answer and is not billed.

    It is stored in the transaction that opens its row of the ledger, or that stores its message: there is one if there
    may be a bill. It is found by *idempotency_key*, or, without one, by *body_digest*, the SHA-256 of what it asks for;
    *retry_number* is how often its client had sent it then.

    In a conversation it is answered by *reply*. Without one it is made by the process *holder*, and *answer* is what
    has been said, encrypted with a key that is made of the body: it can be read only with the same request in hand. It
    is written once another request has joined (*is_joined*), and at the end; it goes soon after *ended_at*.

    *window_id* names the record of the window. *client_has_gone* says that it waits no longer, and *wanted_until* is
    how long it is made for others.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    api_key = models.ForeignKey("conversations.ApiKey", on_delete=models.CASCADE, related_name="+", db_index=False)
    idempotency_key = models.CharField(max_length=255, blank=True, default="", db_default="")
    body_digest = models.CharField(max_length=64)
    retry_number = models.PositiveIntegerField(default=0, db_default=0)
    reply = models.ForeignKey("conversations.Message", on_delete=models.CASCADE, null=True, related_name="+")
    holder = models.CharField(max_length=100, blank=True, default="", db_default="")
    window_id = models.UUIDField(null=True)
    answer = models.TextField(blank=True, default="", db_default="")
    is_joined = models.BooleanField(default=False, db_default=False)
    client_has_gone = models.BooleanField(default=False, db_default=False)
    wanted_until = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["api_key", "body_digest"], condition=Q(idempotency_key=""), name="idempotent_by_body"),
            models.Index(fields=["created_at"], name="idempotent_by_age"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["api_key", "idempotency_key"], condition=~Q(idempotency_key=""), name="idempotent_once_by_key"
            )
        ]

    def __str__(self) -> str:
        return str(self.pk)
