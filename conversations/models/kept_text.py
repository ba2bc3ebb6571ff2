"""System prompts and tool schemas as they were sent, each text stored once."""

from __future__ import annotations

from django.db import models


class KeptText(models.Model):
    """A text as it was sent, a system prompt or tools' schemas: what a scenario says may change, what was sent may not.

    Kept once however often it is sent; *digest* is the SHA-256 of the text, in hexadecimal.
    """

    digest = models.CharField(max_length=64, primary_key=True)
    text = models.TextField()

    def __str__(self) -> str:
        return self.text[:80]
