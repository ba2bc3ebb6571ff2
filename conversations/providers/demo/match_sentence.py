"""How the demo model finds the sentence that belongs to a question: by the words that they share.

A word counts by its stem, so that "live" finds "living"; Chinese is compared in pairs of characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from .demo_prompt import Sentence

GOOD_COVERAGE = 0.6

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_HAN_RUN = re.compile(r"[\u4e00-\u9fff]+")
_HAN_FILLERS = re.compile(
    r"什么时候|什么|为什么|怎么样|怎么|哪里|哪儿|哪个|多少|多长|多久|多大|多远|我说过|说过|告诉|关于|记得|我的|你的|[我你您的是了吗呢谁几有在过]"
)
_FILLERS = frozenset(
    """
    a about all am an and any are as at be been but by can could did do does for from had has have he her him his
    how i i'm if in into is it it's its know me mention mentioned my of on or our please remember remind said say
    she should so tell that the their them then there they thing this to told us was we were what what's when where
    which who whom whose why will with would you your
    """.split()  # noqa: SIM905 - a hundred quoted words are no easier to read
)


@dataclass(frozen=True, slots=True)
class Match:
    """The best sentence, and which part of the question's words it has."""

    sentence: Sentence
    coverage: float

    @property
    def is_good(self) -> bool:
        return self.coverage >= GOOD_COVERAGE


def best_match(question: str, sentences: Iterable[Sentence]) -> Match | None:
    """Return the first of the sentences that share most words with *question*; other questions do not answer one."""
    wanted = keywords(question)
    if not wanted:
        return None
    best: Match | None = None
    for sentence in sentences:
        coverage = len(wanted & keywords(sentence.text)) / len(wanted)
        if coverage and not sentence.is_question and (best is None or coverage > best.coverage):
            best = Match(sentence, coverage)
    return best


def keywords(text: str) -> frozenset[str]:
    """Return the stems and character pairs of *text* that mean something."""
    words = (word.lower().replace("’", "'") for word in _WORD.findall(_HAN_RUN.sub(" ", text)))
    stems = {_stem(word) for word in words if word not in _FILLERS}
    runs = [run for part in _HAN_RUN.findall(text) for run in _HAN_FILLERS.split(part) if run]
    pairs = {run[at : at + 2] for run in runs for at in range(max(len(run) - 1, 1))}
    return frozenset(stems | pairs)


def _stem(word: str) -> str:
    word = word.removesuffix("'s").replace("our", "or")  # colour, favourite
    for ending in ("ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word.removesuffix(ending)
    return word
