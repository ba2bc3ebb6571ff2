"""Split a document's blocks into passages: pieces that are looked up, sent and cited.

    block → torn only if it is too large: between paragraphs, sentences, lines, and at last anywhere
    pieces → joined while they stand under one heading, up to a good size

Everything is done in the order of the document and takes time in proportion to its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from conversations.core.window.budget import CountText

HEADING_JOINT = " › "
TOP_LEVELS = 2
FIRST_GUESS_CHARACTERS_PER_TOKEN = 6

PARAGRAPH_ENDS = re.compile(r"\n\s*\n")
# Look-behinds look at one place only: however long a row of dots or quotes is, it is not read twice.
SENTENCE_ENDS = re.compile(
    r"""(?:(?<=[.!?…])|(?<=[.!?…]["'”’»)\]]))\s+"""
    r"""|(?:(?<=[。！？])|(?<=[。！？][”’」』）]))(?![。！？”’」』）])"""
)
LINE_ENDS = re.compile(r"\n+")
PROSE = (PARAGRAPH_ENDS, SENTENCE_ENDS, LINE_ENDS)
LINES = (PARAGRAPH_ENDS, LINE_ENDS, SENTENCE_ENDS)


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a file: a paragraph, a row of a table, a listing, a record.

    *headings* are those that it stands under, from the outermost. *lines*: each of its lines means something by itself,
    and blocks of lines follow each other as lines do. *alone*: it is a passage of its own. *page* counts from 1.
    """

    text: str
    headings: tuple[str, ...] = ()
    lines: bool = False
    alone: bool = False
    page: int | None = None


@dataclass(frozen=True, slots=True)
class SplitPassage:
    """*heading* is the path of headings, with the page or pages at its end; *tokens* are those of *text*."""

    heading: str
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class PassageSize:
    """How large passages are, in tokens.

    Below *tiny* a passage takes in what stands under another heading; below *least* it takes what makes it larger than
    *good*; above *most* it never is, nor longer than *most_characters*.
    """

    tiny: int = 40
    least: int = 200
    good: int = 300
    most: int = 400
    most_characters: int = 8_000


def split_blocks(
    blocks: Iterable[Block], *, count_text: CountText, size: PassageSize = PassageSize()
) -> Iterator[SplitPassage]:
    """Yield the passages of a document, in its order; none is empty, and no word is lost."""
    passage = _Passage(size)
    for block in blocks:
        joint = "\n" if (block.lines and passage.ends_in_lines) or block.page else "\n\n"
        for text, tokens in _pieces(block, size, count_text):
            piece = _Piece(block, text, tokens, joint)
            if not passage.takes(piece):
                yield from passage.closed(count_text)
                passage = _Passage(size)
            passage.add(piece)
            joint = ""
    yield from passage.closed(count_text)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of *block* that is small enough; *joint* stands between it and the piece before."""

    block: Block
    text: str
    tokens: int
    joint: str


@dataclass(slots=True)
class _Passage:
    """A passage while it grows. *tokens* is the sum over its pieces, which their joints hardly change."""

    size: PassageSize
    pieces: list[_Piece] = field(default_factory=list)
    tokens: int = 0
    characters: int = 0

    @property
    def ends_in_lines(self) -> bool:
        return bool(self.pieces) and self.pieces[-1].block.lines

    def takes(self, piece: _Piece) -> bool:
        if not self.pieces:
            return True
        last = self.pieces[-1].block
        if (piece.block.alone or last.alone) and piece.block is not last:
            return False
        return self._has_room_for(piece) and self._is_near(piece.block.headings)

    def _has_room_for(self, piece: _Piece) -> bool:
        most = self.size.most if self.tokens < self.size.least else self.size.good
        tokens = self.tokens + piece.tokens + bool(piece.joint)
        characters = self.characters + len(piece.joint) + len(piece.text)
        return tokens <= most and characters <= self.size.most_characters

    def _is_near(self, headings: tuple[str, ...]) -> bool:
        """Tell whether what stands under *headings* may go into this passage, whose own may be others."""
        own = self.pieces[-1].block.headings
        if headings == own or self.tokens < self.size.tiny:
            return True
        return self.tokens < self.size.least and _common_length(own, headings) >= TOP_LEVELS

    def add(self, piece: _Piece) -> None:
        self.pieces.append(piece)
        self.tokens += piece.tokens + bool(piece.joint)
        self.characters += len(piece.joint) + len(piece.text)

    def closed(self, count_text: CountText) -> Iterator[SplitPassage]:
        """Yield it as it is stored; as two or more where its joints or inner headings made it too large after all."""
        if not self.pieces:
            return
        first = self.pieces[0].block.headings
        length = min(_common_length(first, piece.block.headings) for piece in self.pieces)
        heading = HEADING_JOINT.join([*first[:length], *self._pages()])
        for text, tokens in _torn(self._text(length), PROSE, self.size, count_text):
            if trimmed := text.strip("\n").rstrip():
                yield SplitPassage(heading, trimmed, tokens if trimmed == text else count_text(trimmed))

    def _text(self, path_length: int) -> str:
        """Return the pieces joined; a heading below the common path is written before what stands under it."""
        parts: list[str] = []
        shown: tuple[str, ...] = ()
        for piece in self.pieces:
            inner = piece.block.headings[path_length:]
            if parts:
                parts.append(piece.joint if inner == shown else "\n\n")
            if inner != shown:
                new = inner[_common_length(inner, shown) :]
                parts += [heading + "\n" for heading in new]
                shown = inner
            parts.append(piece.text)
        return "".join(parts)

    def _pages(self) -> list[str]:
        pages = [piece.block.page for piece in self.pieces if piece.block.page]
        if not pages:
            return []
        return [f"p. {pages[0]}" if pages[0] == pages[-1] else f"p. {pages[0]}–{pages[-1]}"]


def _common_length(first: Sequence[str], second: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


def _pieces(block: Block, size: PassageSize, count_text: CountText) -> Iterator[tuple[str, int]]:
    return _torn(block.text, LINES if block.lines else PROSE, size, count_text)


def _torn(
    text: str, ends: Sequence[re.Pattern[str]], size: PassageSize, count_text: CountText
) -> Iterator[tuple[str, int]]:
    """Yield *text* in pieces of at most the largest size, with their tokens: all of it, together with its blanks."""
    if not text.strip():
        return
    if len(text) <= size.most_characters and (tokens := count_text(text)) <= size.most:
        yield text, tokens
    elif ends:
        for part in _parts(text, ends[0]):
            yield from _torn(part, ends[1:], size, count_text)
    else:
        yield from _cut(text, size, count_text)


def _parts(text: str, ends: re.Pattern[str]) -> Iterator[str]:
    """Yield *text* cut after each match of *ends*."""
    start = 0
    for match in ends.finditer(text):
        if match.end() > start:
            yield text[start : match.end()]
            start = match.end()
    if start < len(text):
        yield text[start:]


def _cut(text: str, size: PassageSize, count_text: CountText) -> Iterator[tuple[str, int]]:
    """Yield a text without any end in it in pieces, cut at blanks where there are some."""
    start = 0
    while start < len(text):
        piece, tokens = _first_that_fits(text[start : start + size.most_characters], size, count_text)
        if piece.strip():
            yield piece, tokens
        start += len(piece)


def _first_that_fits(text: str, size: PassageSize, count_text: CountText) -> tuple[str, int]:
    """Return a beginning of *text* that fits, with its tokens; at least one character."""
    length = min(len(text), FIRST_GUESS_CHARACTERS_PER_TOKEN * size.most)
    while (tokens := count_text(text[:length])) > size.most and length > 1:
        length = max(1, int(length * size.most / tokens * 0.95))
    blank = max(text.rfind(" ", length // 2, length), text.rfind("\n", length // 2, length))
    if length < len(text) and blank > 0:
        return text[: blank + 1], count_text(text[: blank + 1])
    return text[:length], tokens
