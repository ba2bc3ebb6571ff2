"""Invisible characters, and those that reverse the direction of text: shown where people decide by what they read."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import groupby
from typing import Final, NamedTuple

INVISIBLE_CATEGORIES: Final = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
# Of other categories, and still without a shape: joiners, fillers, variation selectors, the blank of Braille.
SHAPELESS: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
NOT_PLAIN: Final = re.compile("[^\n\t -~]")
# Seen where they are few. Many push what follows out of sight; plain spaces don't: they hang at the end of a line.
BLANKS: Final = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
NOT_SEEN_AS_IT_IS: Final = re.compile(f"[{BLANKS}][{BLANKS} ]{{2,}}[{BLANKS}]|{NOT_PLAIN.pattern}")


class Piece(NamedTuple):
    """A stretch of text as it is, or the name of a character that *is_invisible*, such as `U+202E`, or `U+00A0×400`."""

    text: str
    is_invisible: bool = False


def visible_pieces(text: str) -> Iterator[Piece]:
    """Yield *text* piece by piece. Ends of lines and tabs are seen by what they do."""
    start = 0
    for found in NOT_SEEN_AS_IT_IS.finditer(text):
        if len(found[0]) == 1 and not is_invisible(found[0]):
            continue
        if start < found.start():
            yield Piece(text[start : found.start()])
        yield from _named(found[0])
        start = found.end()
    if start < len(text):
        yield Piece(text[start:])


def _named(characters: str) -> Iterator[Piece]:
    for character, same in groupby(characters):
        count = len(list(same))
        yield Piece(f"U+{ord(character):04X}" + (f"×{count}" if count > 1 else ""), is_invisible=True)


def is_invisible(character: str) -> bool:
    """Tell whether *character* is invisible, or shows others out of their order."""
    if not NOT_PLAIN.match(character):
        return False
    return unicodedata.category(character) in INVISIBLE_CATEGORIES or bool(SHAPELESS.match(character))


def keep_visible(text: str) -> str:
    """Return *text* on one line, and without what can't be seen in it."""
    return " ".join("".join(_visible(character) for character in text).split())


def _visible(character: str) -> str:
    if character.isspace():
        return " "
    return "" if is_invisible(character) else character
