"""Selectors of the style sheets: what makes a browser compute the style of a whole thread again is in none of them."""

from __future__ import annotations

import re
from pathlib import Path

SHEETS = Path(__file__).parents[1] / "static" / "css"
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
HAS_ABOVE = re.compile(r":has\(.*\)\s*[ >+~]\s*(?P<subject>[^ >+~()]+(\([^()]*\))?)$")
NAMED = re.compile(r"^\w|[.#\[]")


def selectors(sheet: str) -> list[str]:
    """Return the selectors of a sheet's rules, without splitting what is in parentheses."""
    blocks = re.findall(r"([^{};]+)\{", COMMENT.sub("", sheet))
    return [part.strip() for block in blocks for part in re.split(r",(?![^()]*\))", block)]


def is_for_any_element(selector: str) -> bool:
    """Whether *selector* ends, below a `:has()`, in what no tag, class, id or attribute names.

    Chromium keeps one list of what any `:has()` may change, and "any element" on it stands for all of them.
    """
    found = HAS_ABOVE.search(selector)
    return found is not None and not NAMED.search(found["subject"])


def test_no_has_changes_elements_without_a_name():
    found = {
        f"{path.name}: {selector}"
        for path in SHEETS.rglob("*.css")
        for selector in selectors(path.read_text(encoding="utf-8"))
        if is_for_any_element(selector)
    }
    assert not found


def test_it_is_known_by_its_last_part():
    assert is_for_any_element(".prose [data-blocks]:has(+ .tail:empty) > :last-child")
    assert is_for_any_element(".a:has(.b:not([hidden])) *")
    assert not is_for_any_element(".a:has(.b) > .c:last-child")
    assert not is_for_any_element(".a:has(> :nth-child(2)) img")
    assert not is_for_any_element(".a:has(~ .b) :is(.c, .d)")
    assert not is_for_any_element(".a:has(+ .b)")
