"""What a person reads of a DOCX, brought into one row of paragraphs and tables.

Text boxes and notes are put behind the paragraph that they hang on, what is wrapped around words is taken away, and so
is what nobody sees. Names are those of WordprocessingML, ISO/IEC 29500-1, section 17.
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
# Content controls, fields, and words that somebody has added and nobody has accepted yet.
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
    """Return the styles, by their ids, whose words are shown to nobody; a style has it from the one it is based on."""
    by_id = {style.get(f"{W}styleId", ""): style for style in styles.iter(f"{W}style")}
    return frozenset(name for name in by_id if name and _is_hiding(name, by_id))


def _is_hiding(name: str, by_id: Mapping[str, Element]) -> bool:
    for _ in range(MOST_BASED_ON):
        if (style := by_id.get(name)) is None:
            return False
        if (vanishes := _vanishes(style)) is not None:
            return vanishes
        name = _named_by(style, "basedOn")
    return False


def settle(root: Element, notes: Notes | None = None, *, hidden_styles: frozenset[str] = frozenset()) -> None:
    """Bring *root* into one row; each of *notes* is put in where it is first referred to."""
    _take_away(root.iter(*UNSEEN))
    _take_away(_hidden_runs(root, hidden_styles))
    for wrapper in list(root.iter(*WRAPPERS)):
        for child in list(wrapper):
            wrapper.addprevious(child)
        wrapper.getparent().remove(wrapper)
    for kind in ("footnote", "endnote"):
        for reference in list(root.iter(f"{W}{kind}Reference")):
            if (note := (notes or {}).pop((kind, reference.get(f"{W}id", "")), None)) is not None:
                settle(note, hidden_styles=hidden_styles)
                reference.append(note)
    for aside in reversed(list(root.iter(BOX, f"{W}footnote", f"{W}endnote"))):
        _put_behind_its_paragraph(aside)


def _take_away(elements: Iterator[Element]) -> None:
    for element in list(elements):
        if element.getparent() is not None:
            element.getparent().remove(element)


def _hidden_runs(root: Element, hidden_styles: frozenset[str]) -> Iterator[Element]:
    """Yield words that are shown to nobody: they would tell a language model what its person never sees.

    What a run says of itself counts before its style, or its paragraph's.
    """
    # Looked for once for each paragraph: it goes through all that is in one.
    veiled = {each for each in root.iter(PARAGRAPH) if _named_by(each, "pPr", "pStyle") in hidden_styles}
    for run in root.iter(f"{W}r"):
        vanishes = _vanishes(run)
        if vanishes is None and hidden_styles:
            vanishes = _named_by(run, "rPr", "rStyle") in hidden_styles
            vanishes |= bool(veiled) and next(run.iterancestors(PARAGRAPH), None) in veiled
        if vanishes:
            yield run


def _vanishes(place: Element) -> bool | None:
    """Return what a run or a style says of its words being shown; None if nothing."""
    vanish = place.find(f"{W}rPr/{W}vanish")
    return None if vanish is None else vanish.get(f"{W}val", "true") not in ("0", "false", "off")


def _named_by(place: Element, *way: str) -> str:
    """Return the value of the element on that *way* from *place*, blank if it is not there."""
    named = place.find("/".join(f"{W}{name}" for name in way))
    return "" if named is None else named.get(f"{W}val", "")


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
