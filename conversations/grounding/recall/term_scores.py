"""BM25 over a conversation's arrays, of its passages and of its sessions, and what follows from it for each message.

    idf  = ln(1 + (N − df + 0.5) ÷ (df + 0.5))
    BM25 = Σ weight × idf × tf × (K1 + 1) ÷ (tf + K1 × (1 − B + B × words ÷ average words))

N passages (or sessions) can be found, and df of them have the lexeme.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from conversations.core.recall.weights import ENOUGH_TERMS

from .conversation_arrays import ConversationArrays, Floats, Postings

K1 = 1.2
PASSAGE_B = 0.5
SESSION_B = 0.75


def idf(total: int, having: int) -> float:
    return math.log(1 + (total - having + 0.5) / (having + 0.5))


@dataclass(frozen=True, slots=True)
class WeighedPostings:
    """A lexeme of a query with its *weight*, and its *idf* among passages."""

    weight: float
    postings: Postings
    idf: float


Query = Mapping[str, WeighedPostings]


def passage_scores(arrays: ConversationArrays, query: Query) -> Floats:
    """Return the BM25 of each passage."""
    scores = np.zeros(len(arrays.words))
    average = max(float(arrays.words.sum()) / max(arrays.passages, 1), 1e-9)
    for term in query.values():
        passages, counts = term.postings
        if not len(passages):
            continue
        weight = term.weight * term.idf * (K1 + 1)
        length = K1 * (1 - PASSAGE_B + PASSAGE_B / average * arrays.words[passages])
        scores[passages] += weight * counts / (counts + length)
    return scores


def session_scores(arrays: ConversationArrays, query: Query) -> Floats:
    """Return the BM25 of each session."""
    words = arrays.session_words
    scores = np.zeros(len(words))
    average = max(float(words.sum()) / max(len(words), 1), 1e-9)
    length = K1 * (1 - SESSION_B + SESSION_B / average * words)
    for term in query.values():
        passages, counts = term.postings
        if not len(passages):
            continue
        tf = np.bincount(arrays.session_of_passage[passages], weights=counts, minlength=len(words))
        weight = term.weight * idf(len(words), int(np.count_nonzero(tf))) * (K1 + 1)
        scores += weight * tf / (tf + length)
    return scores


def neighbour_scores(arrays: ConversationArrays, values: Floats) -> tuple[Floats, Floats]:
    """Return for each message the *values* of the one before and of the one after it in its session, 0 without one."""
    before, after = np.zeros_like(values), np.zeros_like(values)
    np.multiply(values[:-1], arrays.is_joined, out=before[1:])
    np.multiply(values[1:], arrays.is_joined, out=after[:-1])
    return before, after


def coverage(arrays: ConversationArrays, query: Query, *, total_idf: float, terms: int) -> Floats:
    """Return for each message the share of the question's idf that it or its neighbours have."""
    covered = np.zeros(arrays.messages)
    for term in query.values():
        passages = term.postings.passages
        if not len(passages):
            continue
        has = np.zeros(arrays.messages, dtype=np.bool_)
        has[arrays.message_of[passages]] = True
        is_near = has.copy()
        is_near[1:] |= has[:-1] & arrays.is_joined
        is_near[:-1] |= has[1:] & arrays.is_joined
        covered[is_near] += term.idf
    return covered / max(total_idf, 1e-9) * min(1.0, ENOUGH_TERMS / max(terms, 1))
