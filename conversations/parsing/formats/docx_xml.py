"""The XML of a DOCX, flattened to one sequence of paragraphs and tables with the visible text alone.

Text boxes and notes are moved behind the paragraph that they are anchored in; wrappers around words and hidden text are
removed. Names are those of WordprocessingML, ISO/IEC 29500-1, section 17.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

Element = Any  # of lxml, which has no types

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
OLD_DRAWING = "{urn:schemas-microsoft-com:vml}"
RELATIONSHIPS = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
MARKUP = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"

PARAGRAPH, BOX = f"{W}p", f"{W}txbxContent"
# Content controls, fields, and insertions that are not accepted yet.
WRAPPERS = tuple(
    f"{W}{name}" for name in ("sdt", "sdtContent", "customXml", "smartTag", "fldSimple", "ins", "moveTo", "dir", "bdo")
)
# Words that were deleted, and the second form of a box, for old programs.
UNSEEN = (f"{W}del", f"{W}moveFrom", f"{W}sdtPr", f"{W}sdtEndPr", f"{MARKUP}Fallback")
SIGNS = {f"{W}tab": "\t", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-"}
WRITTEN = (f"{W}t", f"{MATH}t", *SIGNS)
MOST_BASED_ON = 20  # styles upon one another
SEPARATORS = ("separator", "continuationSeparator", "continuationNotice")

Notes = MutableMapping[tuple[str, str], Element]
"""A note by its kind, `footnote` or `endnote`, and its id."""


def notes_in(root: Element) -> Iterator[tuple[tuple[str, str], Element]]:
    """Yield the notes of a part of them; lines that part notes from words are none."""
    for note in root:
        if note.get(f"{W}type") not in SEPARATORS:
            yield (note.tag.removeprefix(W), note.get(f"{W}id", "")), note


def hidden_styles_in(styles: Element) -> frozenset[str]:
    """Return the styles, by their ids, whose text is hidden; a style inherits this from the one it is based on."""
    by_id = {style.get(f"{W}styleId", ""): style for style in styles.iter(f"{W}style")}
    return frozenset(name for name in by_id if name and _is_hiding(name, by_id))


def _is_hiding(name: str, by_id: Mapping[str, Element]) -> bool:
    for _ in range(MOST_BASED_ON):
        if (style := by_id.get(name)) is None:
            return False
        if (vanishes := _hides_text(style)) is not None:
            return vanishes
        name = _named_by(style, "basedOn")
    return False


def flatten(root: Element, notes: Notes | None = None, *, hidden_styles: frozenset[str] = frozenset()) -> None:
    """Flatten *root* in place; each of *notes* is inserted where it is first referred to."""
    _remove(root.iter(*UNSEEN))
    _remove(_hidden_runs(root, hidden_styles))
    for wrapper in list(root.iter(*WRAPPERS)):
        for child in list(wrapper):
            wrapper.addprevious(child)
        wrapper.getparent().remove(wrapper)
    for kind in ("footnote", "endnote"):
        for reference in list(root.iter(f"{W}{kind}Reference")):
            if (note := (notes or {}).pop((kind, reference.get(f"{W}id", "")), None)) is not None:
                flatten(note, hidden_styles=hidden_styles)
                reference.append(note)
    for aside in reversed(list(root.iter(BOX, f"{W}footnote", f"{W}endnote"))):
        _move_behind_its_paragraph(aside)


def _remove(elements: Iterator[Element]) -> None:
    for element in list(elements):
        if element.getparent() is not None:
            element.getparent().remove(element)


def _hidden_runs(root: Element, hidden_styles: frozenset[str]) -> Iterator[Element]:
    """Yield hidden runs: they would tell a language model what its user never sees.

    A run's own property counts before its style, or its paragraph's.
    """
    # Looked for once for each paragraph: it goes through all that is in one.
    veiled = {each for each in root.iter(PARAGRAPH) if _named_by(each, "pPr", "pStyle") in hidden_styles}
    for run in root.iter(f"{W}r"):
        vanishes = _hides_text(run)
        if vanishes is None and hidden_styles:
            vanishes = _named_by(run, "rPr", "rStyle") in hidden_styles
            vanishes |= bool(veiled) and next(run.iterancestors(PARAGRAPH), None) in veiled
        if vanishes:
            yield run


def _hides_text(place: Element) -> bool | None:
    """Return whether a run or a style hides its text; None if it does not say."""
    vanish = place.find(f"{W}rPr/{W}vanish")
    return None if vanish is None else vanish.get(f"{W}val", "true") not in ("0", "false", "off")


def _named_by(place: Element, *way: str) -> str:
    """Return the value of the element on that *way* from *place*, blank if it is not there."""
    named = place.find("/".join(f"{W}{name}" for name in way))
    return "" if named is None else named.get(f"{W}val", "")


def _move_behind_its_paragraph(aside: Element) -> None:
    place = next(aside.iterancestors(PARAGRAPH), None)
    if place is not None:
        for child in reversed(list(aside)):
            place.addnext(child)


def paragraph_text(paragraph: Element) -> str:
    """Return the words of a paragraph that is flattened."""
    return "".join(SIGNS.get(element.tag) or element.text or "" for element in paragraph.iter(*WRITTEN))


def text_lines(place: Element) -> list[str]:
    """Return the paragraphs of a cell, a header or a footer that is flattened, those of tables in it too."""
    return [line for paragraph in place.iter(PARAGRAPH) if (line := paragraph_text(paragraph).strip())]


def widest_cell_in(table: Element) -> int:
    """Return the largest number of columns that a cell spans."""
    spans = (span.get(f"{W}val", "") for span in table.iter(f"{W}gridSpan"))
    return max((int(span) for span in spans if span.isascii() and span.isdigit()), default=1)


def pictures_in(root: Element) -> set[str]:
    """Return the pictures of a part that is flattened, by the ids of its relationships to them."""
    modern = (picture.get(f"{RELATIONSHIPS}embed", "") for picture in root.iter(f"{DRAWING}blip"))
    old = (picture.get(f"{RELATIONSHIPS}id", "") for picture in root.iter(f"{OLD_DRAWING}imagedata"))
    return {*modern, *old} - {""}


def comments_in(root: Element) -> set[str]:
    """Return the ids of the comments on a part that is flattened."""
    return {reference.get(f"{W}id", "") for reference in root.iter(f"{W}commentReference")}
