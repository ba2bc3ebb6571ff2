"""Truncate a text to a number of tokens, and mark where it was truncated."""

from __future__ import annotations

import re

from .budget import CountText

TRUNCATION_MARK = "[…]"
FIRST_GUESS_CHARACTERS_PER_TOKEN = 4
SOON_CHARACTERS = 40
_BLANK = re.compile(r"\s+")


def truncate_text(text: str, characters: int | None) -> str:
    """Return the first *characters* of *text* with a mark behind them; None is all of it."""
    if characters is None:
        return text
    beginning = text[:characters].rstrip()
    return f"{beginning} {TRUNCATION_MARK}" if beginning else TRUNCATION_MARK


def characters_that_fit(text: str, *, limit_tokens: int, count_text: CountText) -> int | None:
    """Return how many characters of *text*, truncated and marked, take at most *limit_tokens*; None if all of it does.

    0 leaves only the mark, whatever that takes. The texts that are tried grow from the limit, so ten megabytes are
    never counted as a whole and cost no more than the tokens that are wanted.
    """
    if _fits(text, limit_tokens, count_text):
        return None
    low, high = 0, _too_many(text, limit_tokens, count_text)
    while high - low > 1:
        middle = (low + high) // 2
        if count_text(truncate_text(text, middle)) <= limit_tokens:
            low = middle
        else:
            high = middle
    return low


def _fits(text: str, limit_tokens: int, count_text: CountText) -> bool:
    shortest = text[: FIRST_GUESS_CHARACTERS_PER_TOKEN * max(limit_tokens, 1)]
    while len(shortest) < len(text):
        if count_text(shortest) > limit_tokens:
            return False
        shortest = text[: 2 * len(shortest)]
    return count_text(text) <= limit_tokens


def _too_many(text: str, limit_tokens: int, count_text: CountText) -> int:
    """Return a number of characters that do not fit."""
    characters = FIRST_GUESS_CHARACTERS_PER_TOKEN * max(limit_tokens, 1)
    while characters < len(text) and count_text(truncate_text(text, characters)) <= limit_tokens:
        characters *= 2
    return min(characters, len(text))


def truncate_beginning(text: str, start: int) -> str:
    """Return *text* from character *start* on with a mark before it; from 0 on it is all of it."""
    return f"{TRUNCATION_MARK} {text[start:]}" if start else text


def start_that_fits(text: str, *, limit_tokens: int, count_text: CountText, least_characters: int) -> int:
    """Return from which character on *text*, marked, takes at most *limit_tokens*: at a word, if one begins soon.

    All of *text* is too long, and its last *least_characters* are known to fit.
    """

    def fits(start: int) -> bool:
        return count_text(truncate_beginning(text, start)) <= limit_tokens

    low, high = least_characters, min(2 * least_characters, len(text))
    while high < len(text) and fits(len(text) - high):
        low, high = high, min(2 * high, len(text))
    while high - low > 1:
        middle = (low + high) // 2
        if fits(len(text) - middle):
            low = middle
        else:
            high = middle
    start = len(text) - low
    blank = _BLANK.search(text, start, min(start + SOON_CHARACTERS, len(text) - least_characters))
    return blank.end() if blank and fits(blank.end()) else start
