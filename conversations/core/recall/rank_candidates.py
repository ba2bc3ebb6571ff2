"""Rank candidates: older messages that share something with a question, best first, each with the reasons."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from .weights import WEIGHTS, Term

TERMS = tuple(WEIGHTS)
MOST_REASONS = 3
LEAST_REASON = 0.1  # of the score's terms; what adds less is no reason
# What each term is called among the reasons, if it may be one: the others say nothing of the question.
REASONS: Mapping[Term, str] = {
    "words": "words",
    "coverage": "words",
    "feedback": "feedback",
    "meaning": "meaning",
    "best_neighbour": "neighbour",
    "neighbours": "neighbour",
    "session": "session",
    "session_feedback": "session",
    "speaker": "speaker",
    "date": "date",
}


class RankedMessage(NamedTuple):
    """An older message with its *score*, and the value of each of `TERMS`, in their order."""

    message: int
    score: float
    values: Sequence[float]
    weights: Mapping[Term, float]

    @property
    def why(self) -> tuple[str, ...]:
        """Return the reasons that gave most of the score, strongest first."""
        return _reasons(self.values, self.weights)


def rank_candidates(
    messages: Sequence[int],
    values: Mapping[Term, Sequence[float]],
    *,
    most: int,
    weights: Mapping[Term, float] = WEIGHTS,
) -> list[RankedMessage]:
    """Return the messages best first, so many; of equals the newer, which has the larger id.

    *values* has for each of `TERMS` that of each message, in their order.
    """
    scores = [0.0] * len(messages)
    for term in TERMS:  # a term at a time: message by message takes five times as long
        weight = weights[term]
        scores = [score + weight * value for score, value in zip(scores, values[term], strict=True)]
    best = sorted(range(len(messages)), key=lambda place: (scores[place], messages[place]), reverse=True)[:most]
    columns = [values[term] for term in TERMS]
    return [
        RankedMessage(messages[place], scores[place], [column[place] for column in columns], weights) for place in best
    ]


def _reasons(values: Sequence[float], weights: Mapping[Term, float]) -> tuple[str, ...]:
    parts = {term: weights[term] * value for term, value in zip(TERMS, values, strict=True)}
    by_reason: dict[str, float] = {}
    for term, reason in REASONS.items():
        # What is covered may be so by its neighbours alone.
        told = "neighbour" if term == "coverage" and not parts["words"] else reason
        by_reason[told] = by_reason.get(told, 0.0) + parts[term]
    given = [reason for reason, part in by_reason.items() if part >= LEAST_REASON]
    return tuple(sorted(given, key=by_reason.__getitem__, reverse=True)[:MOST_REASONS])


def share_of_first_person(first_person_words: int, words: int) -> float:
    return min(1.0, 8 * first_person_words / max(6, words))


def terseness(mean_tokens: float, most_mean_tokens: float) -> float:
    """Return how tersely a role writes, by the mean tokens of its messages and those of the more verbose role."""
    return math.log(most_mean_tokens / mean_tokens) if mean_tokens > 0 and most_mean_tokens > 0 else 0.0


def mean_tokens_by_role(sums: Iterable[tuple[str, int, int]]) -> dict[str, float]:
    """Return the mean tokens of a message of each role; *sums* are role, messages and tokens."""
    return {role: tokens / messages for role, messages, tokens in sums if messages}
