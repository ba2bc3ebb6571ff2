"""HTML into blocks: the visible text of a page, without its menus. Nothing that it refers to is ever fetched."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree, html

from conversations.core.documents.splitting import Block
from conversations.core.errors import DocumentDamaged
from conversations.parsing.formats.headings import Headings
from conversations.parsing.formats.tables import row_lines
from conversations.parsing.parsed import ReportProgress

BLANKS = re.compile(r"\s+")
HEADING_LEVELS = {f"h{level}": level for level in range(1, 7)}
SKIPPED = frozenset(
    {"script", "style", "nav", "template", "noscript", "head", "svg", "math", "iframe", "object"}
    | {"button", "select", "textarea", "datalist", "dialog"}
)
INLINE = frozenset(
    {"a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "img", "ins"}
    | {"kbd", "label", "mark", "q", "rp", "rt", "ruby", "s", "samp", "small", "span", "strike", "strong", "sub"}
    | {"sup", "time", "tt", "u", "var", "wbr"}
    | {"script", "style", "template", "svg", "math", "button", "select", "textarea"}  # left out in mid-sentence
)


def parse_html(text: str, report: ReportProgress) -> Iterator[Block]:
    parser = html.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True)
    root = html.document_fromstring(text.encode(), parser=parser)
    if root is None:
        raise DocumentDamaged
    yield from _Page(root).blocks()
    report(1, 1)


class _Page:
    """A page that is walked through once, without recursion."""

    def __init__(self, root: html.HtmlElement) -> None:
        self._walk = etree.iterwalk(root, events=("start", "end"))
        self._headings = Headings()
        self._words: list[str] = []
        self._listings = 0

    def blocks(self) -> Iterator[Block]:
        for event, element in self._walk:
            yield from self._begin(element) if event == "start" else self._end(element)
        yield from self._finished()
        yield from self._headings.leave()

    def _begin(self, element: html.HtmlElement) -> Iterator[Block]:
        if element.tag in SKIPPED:
            self._skip(element)
        elif element.tag in HEADING_LEVELS:
            yield from self._finished()
            yield from self._headings.enter(HEADING_LEVELS[element.tag], element.text_content())
            self._skip(element)
        elif element.tag == "table" and not _is_layout(element):
            yield from self._finished()
            yield from self._table(element)
            self._skip(element)
        elif element.tag == "br":
            self._words.append("\n")
        else:
            if element.tag not in INLINE:
                yield from self._finished()
            self._listings += element.tag == "pre"
            self._add_text(element.text)

    def _end(self, element: html.HtmlElement) -> Iterator[Block]:
        if element.tag not in INLINE and element.tag != "br":
            yield from self._finished()
        self._listings -= element.tag == "pre"
        self._add_text(element.tail)

    def _add_text(self, text: str | None) -> None:
        """Add text; outside of listings a line break of the source is only a space."""
        if text:
            self._words.append(text if self._listings else BLANKS.sub(" ", text))

    def _skip(self, element: html.HtmlElement) -> None:
        """Skip the content of *element*; its end event comes all the same."""
        self._walk.skip_subtree()
        element.text = None

    def _table(self, element: html.HtmlElement) -> Iterator[Block]:
        rows = [[cell.text_content() for cell in row.iterchildren("td", "th")] for row in element.iter("tr")]
        for line in row_lines(row for row in rows if row):
            yield self._headings.block(line, lines=True)

    def _finished(self) -> Iterator[Block]:
        text = "".join(self._words)
        if not self._listings:
            text = "\n".join(" ".join(line.split()) for line in text.split("\n"))
        if text.strip():
            yield self._headings.block(text.strip("\n"), lines=bool(self._listings))
        self._words = []


def _is_layout(table: html.HtmlElement) -> bool:
    """Tell whether a table is only the layout of the page."""
    return next(table.iterdescendants("table", "p", "div", "ul", *HEADING_LEVELS), None) is not None
