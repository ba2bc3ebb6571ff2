"""Requests that were sent and have not ended: they are in no figure yet."""

from __future__ import annotations

from conversations.models import Completion

from .figures import NO_FILTERS, Filters


def count_running(filters: Filters = NO_FILTERS) -> int:
    return Completion.objects.filter(ended_at=None, **filters.chosen).count()
