"""The lease that makes a user's exports run one at a time."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models


class ExportLease(models.Model):
    """The lease of a user's export: of the request that has the *token*, until *ends_at* by the database's clock."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="+")
    token = models.UUIDField(default=uuid.uuid4)
    ends_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"export for user {self.user_id}"  # until when, only the database knows
