"""A change of the list that can be undone: which conversations were starred or archived, and how they were before."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class ListChange(models.Model):
    """*before* is what the change has replaced: by the id of each conversation, its fields and their values."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="list_changes")
    before = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "change of the list"
        indexes = [models.Index(fields=["created_at"], name="list_change_to_sweep")]

    def __str__(self) -> str:
        return f"change of the list {self.pk}"
