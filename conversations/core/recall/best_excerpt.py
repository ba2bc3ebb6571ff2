"""The best excerpt of a long message: consecutive sentences with half of its words, and most of the question's."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from .split_message import sentence_spans


class WeighedWord(NamedTuple):
    """A word of the question *at* a character of a text, and its *weight*."""

    at: int
    weight: float


def best_excerpt(content: str, hits: Sequence[WeighedWord]) -> tuple[int, int]:
    """Return where the best excerpt of *content* starts and ends; the earliest of equals. *hits* are in their order."""
    spans = [(each.start, each.end) for each in sentence_spans(content)]
    if not spans:
        return 0, len(content)
    words = [0, *accumulate(len(content[start:end].split()) for start, end in spans)]
    weights = [0.0, *accumulate(_weights_by_span(spans, hits))]
    needed = (words[-1] + 1) // 2
    best, last = (-1.0, 0, len(spans)), 0
    for first in range(len(spans)):
        while last < len(spans) and words[last] - words[first] < needed:
            last += 1
        if words[last] - words[first] < needed:
            break
        if (weight := weights[last] - weights[first]) > best[0] + 1e-9:
            best = weight, first, last
    return _trimmed(content, spans[best[1]][0], spans[best[2] - 1][1])


def _weights_by_span(spans: Sequence[tuple[int, int]], hits: Sequence[WeighedWord]) -> list[float]:
    weights, index = [0.0] * len(spans), 0
    for hit in hits:
        while index < len(spans) and spans[index][1] <= hit.at:
            index += 1
        if index < len(spans):
            weights[index] += hit.weight
    return weights


def _trimmed(content: str, start: int, end: int) -> tuple[int, int]:
    text = content[start:end]
    start += len(text) - len(text.lstrip())
    return start, start + len(text.strip())
