"""The outline of a PDF: its bookmarks, by page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pypdf import PdfReader
from pypdf.errors import PyPdfError

from conversations.parsing.formats.headings import LONGEST_CHARACTERS

DEEPEST = 4
MOST_ENTRIES = 5_000


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A title with those above it, from the outermost; begins on *page*, from 1."""

    path: tuple[str, ...]
    page: int


def parse_outline(reader: PdfReader) -> Mapping[int, Sequence[OutlineEntry]]:
    """Return page number → entries that begin there, in order; nothing where the outline is damaged."""
    by_page: dict[int, list[OutlineEntry]] = defaultdict(list)
    try:
        entries: list[OutlineEntry] = []
        _collect(reader.outline, (), entries, _page_numbers(reader))
    except (PyPdfError, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return {}
    for entry in entries:
        by_page[entry.page].append(entry)
    return by_page


def _page_numbers(reader: PdfReader) -> Mapping[int, int]:
    """Return the object number of each page → its place, from 1."""
    places: dict[int, int] = {}
    for place, page in enumerate(reader.pages, start=1):
        if page.indirect_reference is not None:
            places.setdefault(page.indirect_reference.idnum, place)
    return places


def _collect(items: Any, path: tuple[str, ...], entries: list[OutlineEntry], pages: Mapping[int, int]) -> None:
    """Add the entries of a nested list as pypdf gives it: a list behind an entry holds what is below that."""
    title = ""
    for item in items:
        if len(entries) >= MOST_ENTRIES:
            return
        if isinstance(item, list):
            if len(path) < DEEPEST - 1:
                _collect(item, (*path, title) if title else path, entries, pages)
            continue
        title = " ".join(str(item.title or "").split())[:LONGEST_CHARACTERS]
        place = pages.get(getattr(item.page, "idnum", -1))
        if title and place:
            entries.append(OutlineEntry((*path, title), place))
