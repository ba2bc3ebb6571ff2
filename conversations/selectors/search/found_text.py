"""Where the words of a search stand in a text: whether it has them all, and the few words around them.

A word is where its lexeme is, or where it stands itself; runs, such as quoted phrases, stand as they are but for letter
case, the width of characters and white space.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from conversations.core.text.markdown_marks import MarkSpan, find_marks, without_marks
from conversations.core.text.unspaced_scripts import UNSPACED

from .search_terms import SHORTEST_PART, SearchTerm, SearchTerms, stems_of

WORD = re.compile(rf"[^\W_{UNSPACED}]+")
WHITE_SPACE = re.compile(r"\s+")
BEFORE, LENGTH = 60, 240  # characters of an excerpt
# Characters of the text that an excerpt is made of; the larger number where most are marks, such as addresses of links.
ROOM, LARGER_ROOM = LENGTH + BEFORE, 5 * LENGTH
ALIKE = 2  # first letters of a word and of another with the same lexeme


class MarkedPiece(NamedTuple):
    """A piece of a text; *is_found* if it is what was searched for."""

    text: str
    is_found: bool = False


class FoundText:
    """Tells which words of texts are those of a search. Asks the database once for all lexemes."""

    def __init__(self, terms: SearchTerms, texts: Iterable[str], *, wide: bool) -> None:
        self._runs = [re.compile(_pattern(run), re.IGNORECASE) for run in terms.runs]
        self._wide = wide
        # Words of phrases stand in what the phrase stands in.
        self._loose = [term for term in terms.indexed if term.may_differ]
        self._lexemes = {term: term.lexemes | term.wider if wide else term.lexemes for term in self._loose}
        normalized = {text: _normalized(text) for text in texts}
        self._texts = {text: each for text, each in normalized.items() if all(run.search(each) for run in self._runs)}
        spaced = any(not term.is_unspaced for term in self._loose)
        self._words = {text: set(WORD.findall(each)) if spaced else set() for text, each in self._texts.items()}
        alike = {lexeme[:ALIKE] for each in self._lexemes.values() for lexeme in each}
        asked = {word for words in self._words.values() for word in words if word[:ALIKE] in alike}
        self._stems = stems_of(asked)
        self._spans: dict[str, list[tuple[int, int]]] = {}

    def has_all(self, text: str) -> bool:
        """Tell whether all words and runs are in *text*, which is one of the texts."""
        normalized = self._texts.get(text)
        return normalized is not None and all(
            term.word in normalized if term.is_unspaced else any(self._is(term, word) for word in self._words[text])
            for term in self._loose
        )

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return where in *text*, which has all of them, words and runs stand, in their order and apart."""
        if text not in self._spans:
            self._spans[text] = self._find_spans(text)
        return self._spans[text]

    def _find_spans(self, text: str) -> list[tuple[int, int]]:
        found = [match.span() for run in self._runs for match in run.finditer(text)]
        for term in self._loose:
            if term.is_unspaced:
                found += [match.span() for match in re.finditer(re.escape(term.word), text)]
        spaced = [term for term in self._loose if not term.is_unspaced]
        if spaced:
            words = {word for word in self._words[text] if any(self._is(term, word) for term in spaced)}
            found += [match.span() for match in WORD.finditer(text) if _normalized(match[0]) in words]
        return join_spans(found)

    def excerpt(self, text: str) -> list[MarkedPiece]:
        """Return the words around the first place where most of what was found stands together, without Markdown."""
        spans = self.spans(text)
        starts = [start for start, _ in spans]
        first = max(starts, key=lambda start: (_within(starts, start), -start), default=0)
        start = _word_start(text, max(0, first - BEFORE))
        pieces = [MarkedPiece("… "), *_readable(text, spans, start)] if start else _readable(text, spans, start)
        return [MarkedPiece(WHITE_SPACE.sub(" ", piece.text), piece.is_found) for piece in pieces if piece.text]

    def found_words(self, text: str) -> set[str]:
        """Return what was found as it stands in *text*, for a page that marks it."""
        return {text[start:end] for start, end in self.spans(text)}

    def _is(self, term: SearchTerm, word: str) -> bool:
        if word == term.word or (term.begins and word.startswith(term.word)):
            return True
        if self._wide and len(term.part) >= SHORTEST_PART and term.part in word:
            return True
        return bool(self._stems.get(word)) and self._stems[word] in self._lexemes[term]


def mark_parts(text: str, parts: Iterable[str]) -> list[MarkedPiece]:
    """Return *text* with each of *parts* marked wherever it stands in it, also within a word."""
    found = [match.span() for part in parts for match in re.finditer(re.escape(part), text, re.IGNORECASE)]
    return list(_pieces(text, join_spans(found), 0, len(text)))


def join_spans(found: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans in their order, those that touch as one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        elif end > start:
            joined.append((start, end))
    return joined


def _readable(text: str, spans: Sequence[tuple[int, int]], start: int, *, room: int = ROOM) -> list[MarkedPiece]:
    """Return the first pieces from *start* on, without marks of Markdown but those that are in what was found."""
    end = min(len(text), start + room)
    pieces, left, is_cut = [], LENGTH, end < len(text)
    for piece in _pieces(text, spans, start, end, marks=_marks_apart(text, spans, start, end)):
        shown = piece if piece.is_found and left else MarkedPiece(piece.text[:left])
        pieces.append(shown)
        is_cut = is_cut or len(shown.text) < len(piece.text)
        left = max(0, left - len(shown.text))
    if left > LENGTH // 2 and end < len(text) and room < LARGER_ROOM:
        return _readable(text, spans, start, room=LARGER_ROOM)
    return [*pieces, MarkedPiece(" …")] if is_cut else pieces


def _marks_apart(text: str, spans: Sequence[tuple[int, int]], start: int, end: int) -> list[MarkSpan]:
    """Return the spans of marks, in their order, of those marks in which nothing was found."""
    found = spans[max(0, bisect_left(spans, (start,)) - 1) : bisect_left(spans, (end,))]
    marks = find_marks(text, start, end)
    apart = [
        mark
        for mark in marks
        if not any(part.start < last and first < part.end for part in mark for first, last in found)
    ]
    return sorted(part for mark in apart for part in mark)


def _pieces(
    text: str, spans: Iterable[tuple[int, int]], start: int, end: int, *, marks: Sequence[MarkSpan] = ()
) -> Iterator[MarkedPiece]:
    at = start
    for span_start, span_end in spans:
        if start <= span_start < end:
            yield MarkedPiece(without_marks(text, at, span_start, marks=marks))
            yield MarkedPiece(text[span_start:span_end], is_found=True)
            at = span_end
    yield MarkedPiece(without_marks(text, at, end, marks=marks))


def _normalized(text: str) -> str:
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).lower()


def _pattern(run: str) -> str:
    """Return the pattern of a phrase; it begins and ends with words, where its script has them."""
    pattern = r"\s+".join(re.escape(part) for part in run.split())
    begin = r"\b" if WORD.match(run) else ""
    return f"{begin}{pattern}" + (r"\b" if WORD.match(run[-1:]) else "")


def _within(starts: list[int], start: int) -> int:
    """Return how many of *starts*, which are in order, an excerpt has that begins at *start*."""
    return bisect_left(starts, start + LENGTH - BEFORE) - bisect_left(starts, start)


def _word_start(text: str, at: int) -> int:
    """Return where the next word begins, unless that is far."""
    if at == 0:
        return 0
    space = text.find(" ", at, at + 20)
    return space + 1 if space >= 0 else at
