"""Sentences of errors from their templates: words in the reader's language, moments by the reader's clock."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping

CLAUSES = frozenset({"reason"})  # params that are words themselves
MOMENTS = frozenset({"opens_at"})  # in ISO 8601


def in_utc(moment: dt.datetime) -> str:
    return f"{moment.astimezone(dt.UTC):%Y-%m-%d %H:%M} UTC"


def fill(
    template: str,
    params: Mapping[str, object],
    *,
    translate: Callable[[str], str] = str,
    tell: Callable[[dt.datetime], str] = in_utc,
) -> str:
    """Return *template*, translated already, filled: *translate* is given the clauses, *tell* the moments."""
    said = {name: translate(str(value)) if name in CLAUSES else value for name, value in params.items()}
    said |= {name: tell(dt.datetime.fromisoformat(str(params[name]))) for name in MOMENTS & params.keys()}
    return template % said
