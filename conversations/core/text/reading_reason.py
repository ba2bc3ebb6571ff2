"""The reason that a reviewer gives for reading others' content: cleaned, and long enough to say something."""

from __future__ import annotations

import unicodedata

from conversations.core.errors import ReasonInvalid

from .file_names import UNFIT

FEWEST_CHARACTERS = 10
MOST_CHARACTERS = 500
SEEN = ("L", "N", "P", "S")  # of Unicode's categories: letters, numbers, punctuation, symbols


def clean_reason(raw: str) -> str:
    """Return *raw* on one line, without invisible characters.

    Raises `ReasonInvalid` if fewer than `FEWEST_CHARACTERS` are left to be seen, or more than `MOST_CHARACTERS` in all.
    """
    reason = clean_line(raw)
    if _count_seen(reason) < FEWEST_CHARACTERS or len(reason) > MOST_CHARACTERS:
        raise ReasonInvalid
    return reason


def clean_line(raw: str) -> str:
    """Return *raw* on one line, each white space one blank, without controls and what changes the direction."""
    words = (UNFIT.sub("", word) for word in unicodedata.normalize("NFC", raw).split())
    return " ".join(filter(None, words))


def _count_seen(text: str) -> int:
    return sum(unicodedata.category(character).startswith(SEEN) for character in text)
