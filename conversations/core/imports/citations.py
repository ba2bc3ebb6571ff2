"""Citations in the texts of ChatGPT: marks of private-use characters and of brackets, made into links.

A mark is replaced by what the message says of it, never by its place: whether places count code points or UTF-16 units
is not written anywhere. What is not said of becomes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from .imported import as_list, as_mapping, as_text

MARK = re.compile("\ue200([^\ue200\ue201]*)\ue201")
NUMBERED = re.compile(r"turn(\d+)([a-z]+)(\d+)")
OLD_MARK = re.compile("\u3010[^\u3010\u3011]{0,80}\u2020[^\u3010\u3011]{0,80}\u3011")
REST = re.compile("[\ue200-\ue206]")
SEPARATOR = "\ue202"
MOST_TIMES = 20  # that what is said of marks is written, all in all
UNSAFE_IN_TITLE = re.compile(r"[\[\]\n\r]")


def replace_citations(text: str, metadata: Mapping[str, Any]) -> str:
    """Return *text* with links in place of marks."""
    if "\ue200" not in text and "\u3010" not in text and not REST.search(text):
        return text
    said = _said(metadata)
    found = _found(metadata)
    olds = iter(as_list(metadata.get("citations")))
    room = MOST_TIMES * sum(map(len, (*said.values(), *found.values())))

    def write(mark: re.Match[str], other: Callable[[], str]) -> str:
        """Few bytes of marks, each for the same long text, may not become gigabytes."""
        nonlocal room
        if not (known := said.get(mark[0])):
            return other()
        room -= len(known)
        return known if room >= 0 else ""

    def from_results(mark: re.Match[str]) -> str:
        nonlocal room
        links = _from_results(mark[1], found, room)
        room -= len(links)
        return links

    text = MARK.sub(lambda mark: write(mark, lambda: from_results(mark)), text)
    text = OLD_MARK.sub(lambda mark: write(mark, lambda: _old_link(next(olds, None))), text)
    return REST.sub("", text)


def _said(metadata: Mapping[str, Any]) -> dict[str, str]:
    """Return what stands for each mark, by the mark itself."""
    said = {}
    for each in map(as_mapping, as_list(metadata.get("content_references"))):
        if mark := as_text(each.get("matched_text")).strip():
            said[mark] = as_text(each.get("alt")) or _links(each)
    return said


def _links(reference: Mapping[str, Any]) -> str:
    items = map(as_mapping, as_list(reference.get("items")))
    return " ".join(filter(None, (_link(as_text(item.get("title")), as_text(item.get("url"))) for item in items)))


def _found(metadata: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    """Return links to the results of the web search, by the numbers of their turn and their own."""
    found = {}
    for group in map(as_mapping, as_list(metadata.get("search_result_groups"))):
        for entry in map(as_mapping, as_list(group.get("entries"))):
            ref = as_mapping(entry.get("ref_id"))
            key = (str(ref.get("turn_index")), str(ref.get("ref_index")))
            found[key] = _link(as_text(entry.get("title")), as_text(entry.get("url")))
    return found


def _from_results(mark: str, found: Mapping[tuple[str, str], str], room: int) -> str:
    """Return the links that *mark* names, of at most *room* characters."""
    kind, *arguments = mark.split(SEPARATOR)
    if kind == "entity":  # ["people", "Ann Example", 0]: the second is its name
        named = re.search(r'^\["[^"]*",\s*"([^"]*)"', arguments[0]) if arguments else None
        return named[1] if named else ""
    links = (found.get((numbers[1], numbers[3]), "") for numbers in map(NUMBERED.fullmatch, arguments) if numbers)
    kept: list[str] = []
    for link in filter(None, links):
        room -= len(link) + 1
        if room < 0:
            break
        kept.append(link)
    return " ".join(kept)


def _old_link(citation: object) -> str:
    about = as_mapping(as_mapping(citation).get("metadata"))
    return _link(as_text(about.get("title")), as_text(about.get("url")))


def _link(title: str, url: str) -> str:
    if not url.startswith(("https://", "http://")) or re.search(r"[\s<>()]", url):
        return ""
    return f"([{UNSAFE_IN_TITLE.sub(' ', title).strip() or url}]({url}))"
