"""Append-only tables, made editable for tests that need another time in them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction
from django.utils import timezone

from chatsite.postgres.append_only import MAY_CHANGE
from conversations.models import Reading


@contextmanager
def mended_log() -> Iterator[None]:
    """Let rows of append-only tables be changed, as an operator who mends them by hand does."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL {MAY_CHANGE} = 'on'")
        yield
        cursor.execute(f"SET LOCAL {MAY_CHANGE} = ''")  # a test may stand in a transaction of its own


def end_readings() -> None:
    """Let the time of all readings be over."""
    with mended_log():
        Reading.objects.update(ends_at=timezone.now())
