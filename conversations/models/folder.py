"""A folder of conversations in their owner's list: a name, its documents, and the scenario of those begun in it."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from chatsite.names import NameField


class Folder(models.Model):
    """A folder of the list, which holds no folders. *is_folded* says whether its entries are shown in the list.

    Its documents are looked up in for every conversation that is in it at that moment.
    """

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="folders")
    name = NameField(max_length=80)
    scenario = models.ForeignKey("conversations.Scenario", on_delete=models.SET_NULL, null=True, related_name="folders")
    is_folded = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "folder"
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="folder_one_of_a_name")]

    def __str__(self) -> str:
        return f"folder {self.pk}"
