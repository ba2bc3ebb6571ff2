"""PDF into blocks: a block for each part of a page, under the titles of the document's outline."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO

from pypdf import PageObject, PdfReader
from pypdf.errors import FileNotDecryptedError, LimitReachedError

from conversations.core.documents.splitting import Block
from conversations.core.errors import (
    DocumentDamaged,
    DocumentEncrypted,
    DocumentScanned,
    DocumentTooCostly,
    DocumentTooLong,
)
from conversations.parsing.formats.pdf_extras import DAMAGE, filled_fields, pictures_on, remarks_on
from conversations.parsing.formats.pdf_outline import OutlineEntry, parse_outline
from conversations.parsing.parsed import MOST_CHARACTERS, ReportProgress, SkippedParts

EDGE_LINES = 2
FEWEST_PAGES_OF_RUNNING_LINE = 3
MOST_REPEATS = 100  # of one page in the page tree; none that a program writes for people repeats any
NUMBER = re.compile(r"\d+")
# Prose goes on in small letters after a line that is full; a short line may be one of a list or an address.
LINE_GOES_ON = re.compile(r"(?<=[^\n]{39}[^\n.!?…:;])\n(?=[a-zß-öø-ÿα-ωа-яё])")
BROKEN_WORD = re.compile(r"(?<=[^\W\d_])(?:\u00ad|-)\n(?=[^\W\d_A-Z])")


@dataclass(frozen=True, slots=True)
class Page:
    """The *lines* of a page and the *remarks* that people have made on it; *number* counts from 1."""

    number: int
    lines: Sequence[str]
    remarks: Sequence[str] = ()

    @property
    def has_words(self) -> bool:
        return any(line.strip() for line in self.lines)


def parse_pdf(content: bytes, report: ReportProgress) -> Iterator[Block | SkippedParts]:
    """Parse page by page. Raises if there is no page, or none with text; the undamaged pages of a damaged file count.

    A form that was filled in comes last.
    """
    try:
        reader = _open(content)
        pages = _pages(reader, report)
        outline = parse_outline(reader)
        fields = filled_fields(reader)
        pictures = {picture for page in reader.pages for picture in pictures_on(page)}
    except LimitReachedError as error:
        raise DocumentTooCostly from error
    if not any(page.has_words or page.remarks for page in pages) and not fields:
        raise DocumentScanned
    running = _running_lines(pages)
    path: tuple[str, ...] = ()
    for page in pages:
        stripped = _without_edges(page, running)
        for lines, entry in _sections(stripped.lines, outline.get(page.number, ())):
            path = entry.path if entry else path
            if text := _joined(lines):
                yield Block(text, path, page=page.number)
        yield from (Block(remark, path, page=page.number) for remark in page.remarks)
    yield from (Block(field, lines=True) for field in fields)
    yield SkippedParts(pictures=len(pictures), pages=sum(not page.has_words for page in pages))


def _open(content: bytes) -> PdfReader:
    reader = PdfReader(BytesIO(content), strict=False)
    if reader.is_encrypted and not reader.decrypt(""):
        raise DocumentEncrypted
    return reader


def _pages(reader: PdfReader, report: ReportProgress) -> list[Page]:
    """Return all undamaged pages. Raises if there is none, one is repeated without end, or the text is too long."""
    count = len(reader.pages)
    pages: list[Page] = []
    repeats: Counter[int] = Counter()
    damaged = characters = 0
    for number, page in enumerate(reader.pages, start=1):
        if page.indirect_reference:
            repeats[page.indirect_reference.idnum] += 1
            if repeats[page.indirect_reference.idnum] > MOST_REPEATS:
                raise DocumentTooCostly
        text = _text(page)
        damaged += text is None
        characters += len(text or "")
        if characters > MOST_CHARACTERS:
            raise DocumentTooLong
        pages.append(Page(number, (text or "").split("\n"), remarks_on(page)))
        report(number, count)
    if damaged == len(pages):
        raise DocumentDamaged
    return pages


def _text(page: PageObject) -> str | None:
    """Return the text of a page; None if it is damaged, which does not affect the others."""
    try:
        return page.extract_text()
    except (LimitReachedError, FileNotDecryptedError, MemoryError, RecursionError):
        raise
    except DAMAGE:
        return None


def _running_lines(pages: Sequence[Page]) -> frozenset[str]:
    """Return the lines that stand at the edge of several pages, whatever number they carry: headers and footers."""
    seen = Counter(line for page in pages for line in {_masked(page.lines[place]) for place in _edges(page)})
    return frozenset(line for line, count in seen.items() if line and count >= FEWEST_PAGES_OF_RUNNING_LINE)


def _edges(page: Page) -> list[int]:
    """Return the places of the first and last lines of a page that are not blank."""
    filled = [place for place, line in enumerate(page.lines) if line.strip()]
    return filled[:EDGE_LINES] + filled[EDGE_LINES:][-EDGE_LINES:]


def _masked(line: str) -> str:
    return NUMBER.sub("#", " ".join(line.split()))


def _without_edges(page: Page, running: frozenset[str]) -> Page:
    left_out = {place for place in _edges(page) if _masked(page.lines[place]) in running}
    return replace(page, lines=[line for place, line in enumerate(page.lines) if place not in left_out])


def _sections(
    lines: Sequence[str], entries: Sequence[OutlineEntry]
) -> Iterator[tuple[Sequence[str], OutlineEntry | None]]:
    """Yield the parts of a page, each with the outline's entry that it begins with: None where a section continues.

    A title that is not found on the page begins where the one before it ends.
    """
    start, current = 0, None
    for entry in entries:
        place = next((at for at in range(start, len(lines)) if _is_title(lines[at], entry.path[-1])), None)
        if place is not None:
            yield lines[start:place], current
            start = place + 1
        current = entry
    yield lines[start:], current


def _is_title(line: str, title: str) -> bool:
    """Tell whether *line* is the title, maybe with a number before it."""
    shown, wanted = " ".join(line.split()).casefold(), " ".join(title.split()).casefold()
    return shown == wanted or (shown.endswith(" " + wanted) and len(shown) <= len(wanted) + 12)


def _joined(lines: Sequence[str]) -> str:
    text = "\n".join(line.rstrip() for line in lines)
    return LINE_GOES_ON.sub(" ", BROKEN_WORD.sub("", text)).strip()
