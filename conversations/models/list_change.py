"""A change of the list that can be undone: which conversations were starred, archived, moved or deleted at once."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class ListChange(models.Model):
    """*before* is what the change has replaced: by the id of each conversation, its fields and their values.

    *count* is not stored: how many conversations it was about, also those that were so already.
    """

    count = 0

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="list_changes")
    before = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "change of the list"
        indexes = [models.Index(fields=["created_at"], name="list_change_to_sweep")]

    def __str__(self) -> str:
        return f"change of the list {self.pk}"
