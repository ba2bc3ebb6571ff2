"""Several rankings of passages made into one: by reciprocal rank, without duplicates and without what is far behind.

    score = Σ over rankings of share ÷ (RANK_OFFSET + rank), scaled so that the first of all rankings has 1

Ranks are joined and not scores: what a score of words means and what one of meaning does can't be compared. The offset
is that of Cormack, Clarke and Büttcher, “Reciprocal Rank Fusion”, SIGIR 2009.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

RANK_OFFSET = 60
SHINGLE_WORDS = 3
ALIKE = 0.8  # of two texts' shingles those in both, from which on one of them says nothing new
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage of a document that may answer. *rating* tells it from others of the same ranking: higher is better."""

    id: int
    document: str
    source: str
    text: str
    rating: float


@dataclass(frozen=True, slots=True)
class Fused:
    """A candidate with its *score* of all rankings, 0 to 1."""

    candidate: Candidate
    score: float


def fuse(rankings: Sequence[Sequence[Candidate]], *, most: int) -> list[Fused]:
    """Return the *most* best of all *rankings*, each best first, without near-duplicates; ties keep the first's order.

    A candidate is known by its id.
    """
    scores: dict[int, float] = {}
    candidates: dict[int, Candidate] = {}
    for ranking in rankings:
        for rank, candidate in enumerate(ranking, start=1):
            scores[candidate.id] = scores.get(candidate.id, 0.0) + _part_of(rank, len(rankings))
            candidates.setdefault(candidate.id, candidate)
    best_first = sorted(candidates.values(), key=lambda candidate: -scores[candidate.id])
    return [Fused(each, round(scores[each.id], 4)) for each in _first(most, _without_duplicates(best_first))]


def _part_of(rank: int, rankings: int) -> float:
    return (RANK_OFFSET + 1) / (RANK_OFFSET + rank) / rankings


def _first(most: int, candidates: Iterable[Candidate]) -> list[Candidate]:
    return [candidate for _, candidate in zip(range(most), candidates, strict=False)]


def near_the_best(ranking: Sequence[Candidate], *, share: float) -> list[Candidate]:
    """Return those whose rating is at least *share* of the first's."""
    return [candidate for candidate in ranking if candidate.rating >= share * ranking[0].rating]


def _without_duplicates(best_first: Iterable[Candidate]) -> Iterator[Candidate]:
    kept: list[frozenset[str]] = []
    for candidate in best_first:
        shingles = shingles_of(candidate.text)
        if not any(are_alike(shingles, other) for other in kept):
            kept.append(shingles)
            yield candidate


def shingles_of(text: str) -> frozenset[str]:
    """Return all runs of a few words of *text*, whatever its case; where there are hardly any words, of characters."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = WORD.findall(folded)
    if len(words) < SHINGLE_WORDS:
        words = list("".join(words) or folded)
    return frozenset(" ".join(words[at : at + SHINGLE_WORDS]) for at in range(max(1, len(words) - SHINGLE_WORDS + 1)))


def are_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Tell whether two texts are the same but for a few words, by Jaccard's index of their shingles."""
    smaller, larger = sorted((len(one), len(other)))
    if smaller < ALIKE * larger:  # spares most pairs
        return False
    both = len(one & other)
    return both >= ALIKE * (len(one) + len(other) - both)
