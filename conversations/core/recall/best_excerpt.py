"""The best excerpt of a long message: consecutive sentences that hold half of its words, and most of the question's.

Of those that are hardly longer than the shortest, because what it costs counts as much as what it says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from .split_message import sentence_bounds

AT_MOST = 1.02  # times the length of the shortest


class WeighedWord(NamedTuple):
    """A word of the question *at* a character of a text, and its *weight*."""

    at: int
    weight: float


def best_excerpt(content: str, words: Sequence[WeighedWord]) -> tuple[int, int]:
    """Return where the best excerpt of *content* starts and ends; the earliest of equals.

    *words* are those of the question, in the order of their places.
    """
    spans = sentence_bounds(content)
    if not spans:
        return 0, len(content)
    weights = [0.0, *accumulate(_weights_by_span(spans, words))]
    stretches = [(start, end, spans[end - 1][1] - spans[start][0]) for start, end in _stretches(content, spans)]
    longest = AT_MOST * min(length for _, _, length in stretches)
    start, end, _ = max(
        (each for each in stretches if each[2] <= longest), key=lambda each: weights[each[1]] - weights[each[0]]
    )
    return _trimmed(content, spans[start][0], spans[end - 1][1])


def _stretches(content: str, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the sentences from which to which the shortest stretch with half of all words goes, for each first one."""
    until = [0, *accumulate(_words_begun(content, start, end) for start, end in spans)]
    needed, end = (until[-1] + 1) // 2, 0
    for start in range(len(spans)):
        while end < len(spans) and (end == start or until[end] - until[start] < needed):
            end += 1
        if until[end] - until[start] >= needed:
            yield start, end


def _words_begun(content: str, start: int, end: int) -> int:
    """Return how many words, as white space parts them, begin between *start* and *end*."""
    words = len(content[start:end].split())
    goes_on = 0 < start < end and not content[start - 1].isspace() and not content[start].isspace()
    return words - goes_on


def _weights_by_span(spans: Sequence[tuple[int, int]], words: Sequence[WeighedWord]) -> list[float]:
    weights, index = [0.0] * len(spans), 0
    for word in words:
        while index < len(spans) and spans[index][1] <= word.at:
            index += 1
        if index < len(spans):
            weights[index] += word.weight
    return weights


def _trimmed(content: str, start: int, end: int) -> tuple[int, int]:
    text = content[start:end]
    start += len(text) - len(text.lstrip())
    return start, start + len(text.strip())
