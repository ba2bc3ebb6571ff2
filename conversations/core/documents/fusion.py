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
from itertools import islice, zip_longest
from typing import Literal

RANK_OFFSET = 60
SHINGLE_WORDS = 3
ALIKE = 0.8  # of two texts' shingles those in both, from which on one of them says nothing new
# A character of a script without spaces is a word here.
WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")


# Where a document is: blank for the conversation itself.
DocumentPlace = Literal["", "folder", "scenario"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage of a document that may answer. *rating* tells it from others of the same ranking: higher is better.

    *place* is where its document is. One from the web is of no *document* and has the *url* of its page.
    """

    id: int
    document: str
    source: str
    text: str
    rating: float
    url: str = ""
    place: DocumentPlace = ""


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
    different = islice(_without_duplicates(best_first), most)
    return [Fused(each, round(scores[each.id], 4)) for each in different]


def interleave(*rankings: Sequence[Fused]) -> list[Fused]:
    """Return all of *rankings*, each best first, in turns: of what can't be compared, none pushes another out."""
    return [each for turn in zip_longest(*rankings) for each in turn if each is not None]


def _part_of(rank: int, rankings: int) -> float:
    return (RANK_OFFSET + 1) / (RANK_OFFSET + rank) / rankings


def near_the_best(ranking: Sequence[Candidate], *, share: float) -> list[Candidate]:
    """Return those whose rating is at least *share* of the first's."""
    return [candidate for candidate in ranking if candidate.rating >= share * ranking[0].rating]


def _without_duplicates(best_first: Iterable[Candidate]) -> Iterator[Candidate]:
    kept: list[Fingerprint] = []
    for candidate in best_first:
        fingerprint = Fingerprint.of(candidate.text)
        if not any(map(fingerprint.is_like, kept)):
            kept.append(fingerprint)
            yield candidate


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """A text's fingerprint, to find duplicates: all runs of a few words, whatever their case, and its numbers."""

    shingles: frozenset[str]
    numbers: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Fingerprint:
        folded = unicodedata.normalize("NFKC", text).casefold()
        words = WORD.findall(folded) or [folded]
        runs = range(max(1, len(words) - SHINGLE_WORDS + 1))
        shingles = frozenset(" ".join(words[start : start + SHINGLE_WORDS]) for start in runs)
        return cls(shingles, tuple(word for word in words if word[:1].isdecimal()))

    def is_like(self, other: Fingerprint) -> bool:
        """Tell whether two texts are the same but for a few words, by Jaccard's index of their shingles.

        Another hour, room or price is something new, however few words it takes.
        """
        smaller, larger = sorted((len(self.shingles), len(other.shingles)))
        if smaller < ALIKE * larger or self.numbers != other.numbers:  # spares most pairs
            return False
        both = len(self.shingles & other.shingles)
        return both >= ALIKE * (smaller + larger - both)
