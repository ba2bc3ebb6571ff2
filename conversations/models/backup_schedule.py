"""The backup schedule: when the site last made a backup by itself, and why it failed."""

from __future__ import annotations

from django.db import models


class BackupSchedule(models.Model):
    """One row, by the database's clock. *tried_at* is renewed while a backup is made, and claims it.

    *failure* says why the last try failed, for operators; empty if it did not.
    """

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    tried_at = models.DateTimeField(null=True)
    made_at = models.DateTimeField(null=True)
    failure = models.TextField(blank=True, db_default="")

    def __str__(self) -> str:
        return f"last made at {self.made_at}"
