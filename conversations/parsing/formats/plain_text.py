"""Plain text and Markdown into blocks. Of Markdown only headings and fenced code are parsed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from conversations.core.documents.splitting import PARAGRAPH_ENDS, Block
from conversations.parsing.formats.headings import Headings
from conversations.parsing.parsed import ReportProgress

HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*)")
CLOSING_HASHES = re.compile(r"(?<=[ \t])#+$")
UNDERLINE = re.compile(r" {0,3}(=+|-+)$")
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
LINE_OF_ITS_OWN = re.compile(r"\s*(?:[-*+>|]|\d{1,9}[.)])(?:\s|\S*\|)")


def parse_text(text: str, report: ReportProgress) -> Iterator[Block]:
    starts = [0, *(match.end() for match in PARAGRAPH_ENDS.finditer(text)), len(text)]
    for start, end in pairwise(starts):
        if paragraph := text[start:end].rstrip():
            yield Block(paragraph)
        report(end, len(text))


def parse_markdown(text: str, report: ReportProgress) -> Iterator[Block]:
    parser = _MarkdownParser()
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        yield from parser.take(line.rstrip())
        report(number, len(lines))
    yield from parser.end()


class _MarkdownParser:
    """Takes line after line, and yields a block when it is complete. *fence* opened the code that it is in."""

    def __init__(self) -> None:
        self._headings = Headings()
        self._lines: list[str] = []
        self._fence = ""

    def take(self, line: str) -> Iterator[Block]:
        if self._fence:
            yield from self._take_code(line)
        elif fence := FENCE.match(line):
            yield from self._finished()
            self._fence = fence[1]
            self._lines = [line]
        elif heading := HEADING.fullmatch(line):
            yield from self._finished()
            yield from self._headings.enter(len(heading[1]), CLOSING_HASHES.sub("", heading[2]))
        elif len(self._lines) == 1 and (underline := UNDERLINE.fullmatch(line)):
            title = self._lines.pop()
            yield from self._headings.enter(1 if underline[1][0] == "=" else 2, title)
        elif line:
            self._lines.append(line)
        else:
            yield from self._finished()

    def _take_code(self, line: str) -> Iterator[Block]:
        self._lines.append(line)
        mark = line.strip()
        if mark.startswith(self._fence) and not mark.strip(self._fence[0]):
            self._fence = ""
            yield from self._finished(lines=True)

    def _finished(self, *, lines: bool = False) -> Iterator[Block]:
        if self._lines:
            of_lines = lines or bool(LINE_OF_ITS_OWN.match(self._lines[0]))
            yield self._headings.block("\n".join(self._lines), lines=of_lines)
        self._lines = []

    def end(self) -> Iterator[Block]:
        yield from self._finished(lines=bool(self._fence))
        yield from self._headings.leave()
