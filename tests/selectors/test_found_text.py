"""Where words stand in a text, also where they stand in it a hundred thousand times."""

from __future__ import annotations

import time

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
