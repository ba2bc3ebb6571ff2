"""How many files each user has uploaded in a day."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class UploadCount(models.Model):
    """How many files a user has sent on one day (UTC)."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    day = models.DateField()
    uploads = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "day"], name="upload_count_one_a_day")]

    def __str__(self) -> str:
        return f"{self.uploads} on {self.day} by {self.user}"
