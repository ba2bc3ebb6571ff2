"""Split a message into passages: the pieces of it that are searched and recalled.

    at most `WHOLE_WORDS` words → the whole message
    longer                      → sentences and lines, packed to at most `PACKED_WORDS` words; too long ones are torn,
                                  and a last one with hardly any words joins the one before

A character of a script without spaces counts as half a word. Takes time in proportion to the message's length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from conversations.core.text.unspaced_scripts import UNSPACED

WHOLE_WORDS = 75
PACKED_WORDS = 70
FEWEST_LAST_WORDS = 15
LONGEST_SENTENCE_WORDS = 90
MOST_CHARACTERS = 1_000  # of a passage: words may be long

# One that white space ends: “it’s” and “well-known” are one word each.
ASCII_WORD = re.compile(r"[A-Za-z0-9]\S*")
SPACED_WORD = re.compile(rf"[^\W_{UNSPACED}][^\s{UNSPACED}]*")
UNSPACED_CHARACTER = re.compile(rf"[{UNSPACED}]")
# What a sentence or line that is too long is torn into.
TORN = re.compile(rf"[{UNSPACED}]{{1,20}}\s{{0,200}}|[^\s{UNSPACED}]{{1,200}}\s{{0,200}}|\s{{1,200}}")
# However long a row of dots or of white space is, it is not read twice.
# It begins with the characters that may end one: so it is found several times faster than three alternatives are.
ENDS = re.compile(r"""[\n.!?…。！？](?:(?<=\n)\n*|(?<=[.!?…])["'”’»)\]]?[^\S\n]+|(?<=[。！？])[”’」』）]*)""")


class Span(NamedTuple):
    """The characters *start* to *end* of a text, and how many *half_words* they have."""

    start: int
    end: int
    half_words: int


def split_message(content: str) -> list[Span]:
    """Return the passages of *content* in its order: each has a word, and each word is in one of them.

    They begin and end with a character that is no white space.
    """
    units = list(_units(content))
    if len(content) <= MOST_CHARACTERS and sum(unit.half_words for unit in units) <= 2 * WHOLE_WORDS:
        passages = [_joined(units)] if units else []
    else:
        passages = _packed(units)
    return [_trimmed(content, passage) for passage in passages if passage.half_words]


def sentence_bounds(content: str) -> list[tuple[int, int]]:
    """Return where each sentence or line starts and ends, with the white space behind it."""
    ends = [match.end() for match in ENDS.finditer(content)]
    if not ends or ends[-1] < len(content):
        ends.append(len(content))
    return [(start, end) for start, end in zip([0, *ends], ends, strict=False) if end > start]


def _units(content: str) -> Iterator[Span]:
    """Yield the sentences and lines, or what they are torn into."""
    for start, end in sentence_bounds(content):
        yield from _torn(content, _span(content, start, end))


def _torn(content: str, unit: Span) -> Iterator[Span]:
    if unit.half_words <= 2 * LONGEST_SENTENCE_WORDS and unit.end - unit.start <= MOST_CHARACTERS:
        yield unit
        return
    for match in TORN.finditer(content, unit.start, unit.end):
        yield _span(content, *match.span())


def _span(content: str, start: int, end: int) -> Span:
    text = content[start:end]
    if text.isascii():
        return Span(start, end, 2 * len(ASCII_WORD.findall(text)))
    return Span(start, end, 2 * len(SPACED_WORD.findall(text)) + len(UNSPACED_CHARACTER.findall(text)))


def _packed(units: list[Span]) -> list[Span]:
    """Return neighbouring *units* together, as many as are no larger than a passage should be."""
    passages: list[Span] = []
    for unit in units:
        if passages and _fit_together(passages[-1], unit, most_words=PACKED_WORDS):
            passages[-1] = _joined([passages[-1], unit])
        else:
            passages.append(unit)
    return _with_larger_last(passages)


def _with_larger_last(passages: list[Span]) -> list[Span]:
    if len(passages) < 2 or passages[-1].half_words >= 2 * FEWEST_LAST_WORDS:
        return passages
    *others, before, last = passages
    if not _fit_together(before, last, most_words=LONGEST_SENTENCE_WORDS):
        return passages
    return [*others, _joined([before, last])]


def _fit_together(first: Span, second: Span, *, most_words: int) -> bool:
    return first.half_words + second.half_words <= 2 * most_words and second.end - first.start <= MOST_CHARACTERS


def _joined(units: list[Span]) -> Span:
    return Span(units[0].start, units[-1].end, sum(unit.half_words for unit in units))


def _trimmed(content: str, passage: Span) -> Span:
    text = content[passage.start : passage.end]
    start = passage.start + len(text) - len(text.lstrip())
    return Span(start, start + len(text.strip()), passage.half_words)
