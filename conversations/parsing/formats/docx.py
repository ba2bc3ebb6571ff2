"""DOCX into blocks: headings by their style, lists, tables row by row, boxes and notes behind their paragraphs.

Headers and footers come last, each line of them once. External references are never fetched.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from io import BytesIO

import docx
from docx.document import Document
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import parse_xml
from docx.table import Table
from docx.text.paragraph import Paragraph

from conversations.core.documents.splitting import Block
from conversations.core.errors import DocumentTooCostly
from conversations.parsing.formats.docx_xml import (
    Element,
    Notes,
    comments_in,
    flatten,
    hidden_styles_in,
    notes_in,
    paragraph_text,
    pictures_in,
    text_lines,
    widest_cell_in,
)
from conversations.parsing.formats.headings import Headings
from conversations.parsing.formats.tables import row_lines
from conversations.parsing.parsed import ReportProgress, SkippedParts

MOST_MEMBERS = 5_000
MOST_UNPACKED_BYTES = 200 * 1024 * 1024
MOST_RATIO = 200  # XML is rarely packed to less than a fiftieth
MOST_COLUMNS = 1_000  # Word has 63
RATIO_FROM_BYTES = 5 * 1024 * 1024
NOTES = (RELATIONSHIP_TYPE.FOOTNOTES, RELATIONSHIP_TYPE.ENDNOTES)
MARGINS = (RELATIONSHIP_TYPE.HEADER, RELATIONSHIP_TYPE.FOOTER)


def parse_docx(content: bytes, report: ReportProgress) -> Iterator[Block | SkippedParts]:
    _check_sizes(content)
    document = docx.Document(BytesIO(content))
    hidden_styles = hidden_styles_in(document.styles.element)
    flatten(document.element.body, _notes(document), hidden_styles=hidden_styles)
    parts = list(document.iter_inner_content())
    builder = _BlockBuilder()
    for number, part in enumerate(parts, start=1):
        yield from builder.table(part) if isinstance(part, Table) else builder.paragraph(part)
        report(number, len(parts))
    yield from builder.headings.leave()
    yield from _margins(document, hidden_styles)
    yield SkippedParts(
        pictures=len(pictures_in(document.element.body)), comments=len(comments_in(document.element.body))
    )


def _notes(document: Document) -> Notes:
    return {name: note for part in _parts(document, *NOTES) for name, note in notes_in(part)}


def _margins(document: Document, hidden_styles: frozenset[str]) -> Iterator[Block]:
    """Yield the headers and footers, a block for each with new lines."""
    seen: set[str] = set()
    for part in _parts(document, *MARGINS):
        flatten(part, hidden_styles=hidden_styles)
        if new := [line for line in dict.fromkeys(text_lines(part)) if line not in seen]:
            seen.update(new)
            yield Block("\n".join(new), lines=True)


def _parts(document: Document, *kinds: str) -> Iterator[Element]:
    """Yield the roots of the parts beside the body that are of these *kinds* of relationship."""
    for relationship in document.part.rels.values():
        if relationship.reltype in kinds and not relationship.is_external:
            yield parse_xml(relationship.target_part.blob)


def _check_sizes(content: bytes) -> None:
    """Refuse to unpack what would be too large. The sizes may lie: no more than they say is ever unpacked."""
    members = zipfile.ZipFile(BytesIO(content)).infolist()
    unpacked = sum(member.file_size for member in members)
    if len(members) > MOST_MEMBERS or unpacked > MOST_UNPACKED_BYTES:
        raise DocumentTooCostly
    if unpacked > RATIO_FROM_BYTES and unpacked > MOST_RATIO * len(content):
        raise DocumentTooCostly


class _BlockBuilder:
    """Makes blocks of paragraphs and tables. The level of a style is looked up once."""

    def __init__(self) -> None:
        self.headings = Headings()
        self._levels: dict[str, int] = {}

    def paragraph(self, paragraph: Paragraph) -> Iterator[Block]:
        text = paragraph_text(paragraph._p)
        if not text.strip():
            return
        if level := self._level(paragraph):
            yield from self.headings.enter(level, text)
        else:
            yield self.headings.block(text, lines=_is_list_item(paragraph))

    def table(self, table: Table) -> Iterator[Block]:
        if widest_cell_in(table._tbl) > MOST_COLUMNS:
            raise DocumentTooCostly
        for line in row_lines(_rows(table)):
            yield self.headings.block(line, lines=True)

    def _level(self, paragraph: Paragraph) -> int:
        """Return the level of a heading, from 1; 0 for ordinary paragraphs."""
        style_id = str(paragraph._p.style)
        if style_id not in self._levels:
            name = (paragraph.style.name if paragraph.style else None) or ""
            self._levels[style_id] = _heading_level(name.casefold())
        return self._levels[style_id]


def _rows(table: Table) -> Iterator[list[str]]:
    """Yield the words of each column. A cell over several columns has them in the first, one over several rows in each.

    python-docx would look up from each of these rows to the first: hundreds take it seconds, a thousand it gives up.
    """
    above: dict[int, str] = {}
    for row in table._tbl.tr_lst:
        words, place, here = [], row.grid_before, {}
        for cell in row.tc_lst:
            here[place] = above.get(place, "") if cell.vMerge == "continue" else "\n".join(text_lines(cell))
            words += [here[place], *[""] * (cell.grid_span - 1)]
            place += cell.grid_span
        yield words
        above = here


def _heading_level(style_name: str) -> int:
    if style_name == "title":
        return 1
    word, _, number = style_name.partition(" ")
    return int(number) if word == "heading" and number.isascii() and number.isdigit() else 0


def _is_list_item(paragraph: Paragraph) -> bool:
    properties = paragraph._p.pPr
    return (properties is not None and properties.numPr is not None) or str(paragraph._p.style).startswith("List")
