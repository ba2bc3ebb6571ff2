"""Cache entries in PostgreSQL: counters of attempts at signing in, and the marks that a one-time code was used.

Read and written by Django's `DatabaseCache`, which names the columns. Redis may be away at any time; these may not.
"""

from __future__ import annotations

from django.db import models


class CacheEntry(models.Model):
    """One value of the cache, pickled, until it expires."""

    cache_key = models.CharField(max_length=255, primary_key=True)
    value = models.TextField()
    expires = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.cache_key
