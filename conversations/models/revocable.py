"""What ends at a moment that was set, or once it is revoked: shares and API keys."""

from __future__ import annotations

import datetime as dt

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone


class Revocable:
    """A mixin of models. *ends_at* is None for what does not end by itself, *revoked_at* until it is revoked."""

    ends_at: models.DateTimeField[dt.datetime | None, dt.datetime | None]
    revoked_at: models.DateTimeField[dt.datetime | None, dt.datetime | None]

    @property
    def is_over(self) -> bool:
        """Whether it has ended by itself."""
        return self.ends_at is not None and self.ends_at <= timezone.now()

    @property
    def is_open(self) -> bool:
        return self.revoked_at is None and not self.is_over


def is_open_now() -> Q:
    """Return the same as a condition, by the database's clock."""
    return Q(revoked_at=None) & (Q(ends_at=None) | Q(ends_at__gt=Now()))


def open_now_sql(table: str) -> str:
    """Return the condition of `is_open_now` in SQL, for the rows of *table*: for statements that are compiled once."""
    return f"{table}.revoked_at IS NULL AND ({table}.ends_at IS NULL OR {table}.ends_at > STATEMENT_TIMESTAMP())"
