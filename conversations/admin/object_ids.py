"""Parse object ids in URLs and forms of the admin, where any text may stand."""

from __future__ import annotations

MOST_DIGITS = 18  # what the column holds has one more


def id_in(text: str) -> int | None:
    """Return the id that *text* is, or None if it can't be one."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS else None
