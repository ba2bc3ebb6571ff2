"""The one-time link that makes the first admin."""

from __future__ import annotations

from django.db import models


class FirstAdminLink(models.Model):
    """The link printed at start while the site has no admin: at most one row, locked while an admin is made."""

    singleton = models.BooleanField(primary_key=True, default=True)
    token_hash = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(singleton=True), name="first_admin_link_is_only_one")]

    def __str__(self) -> str:
        return f"first admin link of {self.created_at:%Y-%m-%d %H:%M}"
