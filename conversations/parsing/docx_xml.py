"""What a person reads of a DOCX, brought into one row of paragraphs and tables.

Text boxes and notes are put behind the paragraph that they hang on, what is wrapped around words is taken away, and so
is what nobody sees. Names are those of WordprocessingML, ISO/IEC 29500-1, section 17.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

Element = Any  # of lxml, which has no types

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
OLD_DRAWING = "{urn:schemas-microsoft-com:vml}"
RELATIONSHIPS = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
MARKUP = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"

PARAGRAPH, BOX = f"{W}p", f"{W}txbxContent"
# Content controls, fields, and words that somebody has added and nobody has accepted yet.
WRAPPERS = tuple(
    f"{W}{name}" for name in ("sdt", "sdtContent", "customXml", "smartTag", "fldSimple", "ins", "moveTo", "dir", "bdo")
)
# Words that were deleted, and the second form of a box, for old programs.
UNSEEN = (f"{W}del", f"{W}moveFrom", f"{W}sdtPr", f"{W}sdtEndPr", f"{MARKUP}Fallback")
SIGNS = {f"{W}tab": "\t", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-"}
WRITTEN = (f"{W}t", f"{MATH}t", *SIGNS)
SEPARATORS = ("separator", "continuationSeparator", "continuationNotice")

Notes = MutableMapping[tuple[str, str], Element]
"""A note by its kind, `footnote` or `endnote`, and its id."""


def notes_in(root: Element) -> Iterator[tuple[tuple[str, str], Element]]:
    """Yield the notes of a part of them; lines that part notes from words are none."""
    for note in root:
        if note.get(f"{W}type") not in SEPARATORS:
            yield (note.tag.removeprefix(W), note.get(f"{W}id", "")), note


def settle(root: Element, notes: Notes | None = None) -> None:
    """Bring *root* into one row; each of *notes* is put in where it is first referred to."""
    _take_away(root.iter(*UNSEEN))
    _take_away(filter(_is_hidden, root.iter(f"{W}r")))
    for wrapper in list(root.iter(*WRAPPERS)):
        for child in list(wrapper):
            wrapper.addprevious(child)
        wrapper.getparent().remove(wrapper)
    for kind in ("footnote", "endnote"):
        for reference in list(root.iter(f"{W}{kind}Reference")):
            if (note := (notes or {}).pop((kind, reference.get(f"{W}id", "")), None)) is not None:
                settle(note)
                reference.append(note)
    for aside in reversed(list(root.iter(BOX, f"{W}footnote", f"{W}endnote"))):
        _put_behind_its_paragraph(aside)


def _take_away(elements: Iterator[Element]) -> None:
    for element in list(elements):
        if element.getparent() is not None:
            element.getparent().remove(element)


def _is_hidden(run: Element) -> bool:
    """Tell whether these words are shown to nobody: they would tell a language model what its person never sees."""
    vanish = run.find(f"{W}rPr/{W}vanish")
    return vanish is not None and vanish.get(f"{W}val", "true") not in ("0", "false", "off")


def _put_behind_its_paragraph(aside: Element) -> None:
    place = next(aside.iterancestors(PARAGRAPH), None)
    if place is not None:
        for child in reversed(list(aside)):
            place.addnext(child)


def text_of(paragraph: Element) -> str:
    """Return the words of a paragraph that is settled."""
    return "".join(SIGNS.get(element.tag) or element.text or "" for element in paragraph.iter(*WRITTEN))


def lines_of(place: Element) -> list[str]:
    """Return the paragraphs of a cell, a header or a footer that is settled, those of tables in it too."""
    return [line for paragraph in place.iter(PARAGRAPH) if (line := text_of(paragraph).strip())]


def widest_cell_in(table: Element) -> int:
    """Return over how many columns a cell goes at most."""
    spans = (span.get(f"{W}val", "") for span in table.iter(f"{W}gridSpan"))
    return max((int(span) for span in spans if span.isascii() and span.isdigit()), default=1)


def pictures_in(root: Element) -> set[str]:
    """Return the pictures of a part that is settled, by the ids of its relationships to them."""
    modern = (picture.get(f"{RELATIONSHIPS}embed", "") for picture in root.iter(f"{DRAWING}blip"))
    old = (picture.get(f"{RELATIONSHIPS}id", "") for picture in root.iter(f"{OLD_DRAWING}imagedata"))
    return {*modern, *old} - {""}


def comments_in(root: Element) -> set[str]:
    """Return the ids of the comments that hang on a part that is settled."""
    return {reference.get(f"{W}id", "") for reference in root.iter(f"{W}commentReference")}
