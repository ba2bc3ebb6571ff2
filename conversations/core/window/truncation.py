"""Truncate a text to a number of tokens, and mark where it was truncated."""

from __future__ import annotations

from .budget import CountText

TRUNCATION_MARK = "[…]"
FIRST_GUESS_CHARACTERS_PER_TOKEN = 4


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
