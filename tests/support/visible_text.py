"""What people see of a page, or have read out to them: its words, without what is data on it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

READ_OUT = ("title", "aria-label", "aria-description", "placeholder", "alt", "data-label", "data-copied", "data-press")
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
# Code is in no language; `bdi` holds what people wrote and called things; what has a `lang` is in that one.
NOT_SAID = {"script", "style", "code", "kbd", "pre", "bdi", "svg", "datalist"}
ICON = "material-symbols"  # of the theme: drawn by the name of what they show
WORD = re.compile(r"[A-Za-z][A-Za-z'’]+")
ADDRESS = re.compile(r"\S+@\S+|https?://\S+")
NAMES = re.compile(r"\S*[\w-]+\.(?:txt|md|json|csv|py)\b|[\w-]*\d[\w-]*|(?<![A-Za-z])[A-Z_]{2,}(?![A-Za-z])|/\S+")


class _Page(HTMLParser):
    """Collects what is said, element by element."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []
        self._open: list[tuple[str, bool]] = []  # each open element, and whether it is silent

    @property
    def _is_silent(self) -> bool:
        return any(silent for _, silent in self._open)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        silent = tag in NOT_SAID or ICON in given.get("class", "") or ("lang" in given and tag != "html")
        if not (silent or self._is_silent):
            self.said += [given[name] for name in READ_OUT if name in given]
            if tag == "input" and given.get("type") in ("submit", "button", "reset"):
                self.said.append(given.get("value", ""))
        if tag not in VOID:
            self._open.append((tag, silent))

    def handle_endtag(self, tag: str) -> None:
        if any(name == tag for name, _ in self._open):
            while self._open.pop()[0] != tag:
                pass

    def handle_data(self, data: str) -> None:
        if not self._is_silent:
            self.said.append(data)


def texts_of(html: str) -> list[str]:
    """Return the texts of the page and what its elements are called, in their order."""
    page = _Page()
    page.feed(html)
    page.close()
    return [" ".join(said.split()) for said in page.said if said.strip()]


def latin_words(html: str, *, known: frozenset[str], data: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Yield each Latin word that is neither a name nor *known*, with what it stands in; *data* is overlooked."""
    for said in texts_of(html):
        rest = ADDRESS.sub(" ", said)
        for each in data:
            rest = rest.replace(each, "")
        yield from ((word, said) for word in WORD.findall(NAMES.sub(" ", rest)) if word not in known)
