"""The writing system of a text: Latin, Cyrillic, Han and so on, by the names that Unicode gives its letters.

It tells a text in Chinese from one in English, but not German from English: for that, words would have to be known.
"""

from __future__ import annotations

import unicodedata
from collections import Counter

MOST_LETTERS = 2_000
CLEAR_SHARE = 0.7  # of the letters of a text that has one writing system
ABSENT_SHARE = 0.2
TOGETHER = {"CJK": "Han", "HIRAGANA": "Han", "KATAKANA": "Han"}


def letters_by_writing_system(text: str) -> Counter[str]:
    """Return how many of the first letters of *text* are of each writing system."""
    letters = [sign for sign in text[: 10 * MOST_LETTERS] if sign.isalpha()][:MOST_LETTERS]
    return Counter(_system(sign) for sign in letters)


def _system(letter: str) -> str:
    first = unicodedata.name(letter, "").partition(" ")[0].partition("-")[0]
    return TOGETHER.get(first, first)


def is_in_another_writing_system(text: str, source: str) -> bool:
    """Tell whether *source* is clearly of one writing system and *text*, made of it, hardly is."""
    of_source, of_text = letters_by_writing_system(source), letters_by_writing_system(text)
    if not of_source or not of_text:
        return False
    [(system, letters)] = of_source.most_common(1)
    is_clear = letters >= CLEAR_SHARE * of_source.total()
    return is_clear and of_text[system] < ABSENT_SHARE * of_text.total()
