"""A saved prompt: a text that a user keeps under a name, to put it into the composer."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from chatsite.names import NameField


class SavedPrompt(models.Model):
    """*content* stands in the composer once its *name* is chosen there; nothing is sent by that."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_prompts")
    name = NameField(max_length=80)
    content = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "saved prompt"
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="saved_prompt_one_of_a_name")]

    def __str__(self) -> str:
        return f"saved prompt {self.pk}"
