"""Similar words: those one letter away from a word that was typed, in short texts such as titles.

One letter more, one less, another one, or two exchanged, and the word in the text may go on: "lofto" finds "Lofoten".
"""

from __future__ import annotations

import re
from collections.abc import Iterable

SHORTEST, LONGEST = 4, 40  # letters of a word that may have a typo


class SimilarWords:
    """Finds *words*, each as it is or with a typo."""

    def __init__(self, words: Iterable[str]) -> None:
        self._patterns = {word: (_certain_parts(word), _pattern(word)) for word in words}

    def find_all(self, text: str) -> set[str]:
        """Return the words of *text* that stand for the words; nothing unless each of them does."""
        text = text.lower()
        found: set[str] = set()
        for word, (parts, pattern) in self._patterns.items():
            pieces = {word} if word in text else set()
            if not pieces and pattern and any(part in text for part in parts):
                pieces = {match[0] for match in pattern.finditer(text)}
            if not pieces:
                return set()
            found |= pieces
        return found


def _certain_parts(word: str) -> list[str]:
    """Return parts of which each similar word has one: a typo is in one half, or exchanges the ends of both."""
    half = len(word) // 2
    exchanged = word[: half - 1] + word[half : half + 1] + word[half - 1 : half] + word[half + 1 :] if half else word
    return [word[:half], word[half:], exchanged]


def _pattern(word: str) -> re.Pattern[str] | None:
    if not SHORTEST <= len(word) <= LONGEST or not word.isalnum():
        return None
    letters = [re.escape(letter) for letter in word]
    places = range(1, len(letters))
    similar = ["".join([*letters[:at], r"\w", *letters[at:]]) for at in places]
    similar += ["".join([*letters[:at], r"\w", *letters[at + 1 :]]) for at in (0, *places)]
    similar += ["".join([*letters[:at], *letters[at + 1 :]]) for at in (0, *places)]
    similar += ["".join([*letters[: at - 1], letters[at], letters[at - 1], *letters[at + 1 :]]) for at in places]
    return re.compile(rf"\b(?:{'|'.join(similar)})\w*")
