"""Where words stand in a text, also where they stand in it a hundred thousand times."""

from __future__ import annotations

import time

import pytest

from conversations.selectors.search.found_text import FoundText
from conversations.selectors.search.search_terms import SearchTerms


def test_an_excerpt_of_a_text_with_very_many_hits_takes_linear_time():
    text = "a b " * 100_000
    found = FoundText(SearchTerms([], ["a"], []), [text], wide=False)
    began = time.process_time()
    pieces = found.excerpt(text)
    assert time.process_time() - began < 5  # it was many minutes
    assert sum(piece.is_found for piece in pieces) == 60


def test_an_excerpt_begins_where_most_hits_stand_together():
    text = "sea " + "x" * 500 + " sea sea sea"
    found = FoundText(SearchTerms([], ["sea"], []), [text], wide=False)
    assert [piece.text for piece in found.excerpt(text) if piece.is_found] == ["sea"] * 3


def excerpt(text, found):
    """Return the excerpt as one text, with what was found in angle quotes."""
    pieces = FoundText(SearchTerms([], [found], []), [text], wide=False).excerpt(text)
    return "".join(f"«{piece.text}»" if piece.is_found else piece.text for piece in pieces)


@pytest.mark.parametrize(
    ("text", "found", "shown"),
    [
        ("By **day** to *Lisbon*, see `plan`.", "Lisbon", "By day to «Lisbon», see plan."),
        (
            "| Leg | Leaves |\n|---|---|\n| Irun – **Lisbon** | 22:05 |",
            "Lisbon",
            " Leg · Leaves Irun – «Lisbon» · 22:05 ",
        ),
        ("**the night train** leaves", "night train", "the «night train» leaves"),
        ("**the night** train leaves", "night** train", "**the «night** train» leaves"),
        (
            "see [the plan](https://example.eu/lisbon) now",
            "lisbon",
            "see [the plan](https://example.eu/«lisbon») now",
        ),
        ("see [the plan](https://example.eu/lisbon) now", "plan", "see the «plan» now"),
        ("## Lisbon\n\n- by *train*", "Lisbon", "«Lisbon» • by train"),
        ("a snake_case_name of Lisbon", "snake_case_name", "a «snake_case_name» of Lisbon"),
        ("<b>**Lisbon**</b>", "Lisbon", "<b>«Lisbon»</b>"),
    ],
)
def test_an_excerpt_is_without_markdown_but_in_what_was_found(text, found, shown):
    assert excerpt(text, found) == shown


def test_an_excerpt_is_as_long_where_most_of_the_text_is_addresses():
    text = "Lisbon " + "[one](https://example.eu/" + "x" * 300 + ") and " + "words " * 100
    shown = excerpt(text, "Lisbon")
    assert shown.startswith("«Lisbon» one and words words")
    assert len(shown) > 200
    assert shown.endswith(" …")
