"""When an owner was last mailed that conversations of theirs are deleted soon."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class RetentionMail(models.Model):
    """One row of an owner who has been mailed: the next mail is due some days after *mailed_at*."""

    owner = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="+")
    mailed_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"mail to user {self.owner_id}"
