"""Characters that nobody sees, or that turn around what is seen: made visible where people decide by what they read."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final, NamedTuple

UNSEEN_CATEGORIES: Final = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
# Of other categories, and still without a shape: joiners, fillers, variation selectors, the blank of Braille.
SHAPELESS: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
NOT_PLAIN: Final = re.compile("[^\n\t -~]")


class Piece(NamedTuple):
    """A stretch of text as it is, or the name of one character that is *unseen*, such as `U+202E`."""

    text: str
    unseen: bool = False


def pieces_of(text: str) -> Iterator[Piece]:
    """Yield *text* piece by piece. Ends of lines and tabs are seen by what they do."""
    start = 0
    for found in NOT_PLAIN.finditer(text):
        if not is_unseen(found[0]):
            continue
        if start < found.start():
            yield Piece(text[start : found.start()])
        yield Piece(f"U+{ord(found[0]):04X}", unseen=True)
        start = found.end()
    if start < len(text):
        yield Piece(text[start:])


def is_unseen(character: str) -> bool:
    """Tell whether nobody would see *character*, or see others out of their order for it."""
    if not NOT_PLAIN.match(character):
        return False
    return unicodedata.category(character) in UNSEEN_CATEGORIES or bool(SHAPELESS.match(character))
