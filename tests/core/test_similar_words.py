"""A typo of one letter in what is typed still finds a title or a command."""

from __future__ import annotations

import pytest

from conversations.core.text.similar_words import SimilarWords

TITLE = "Lofoten in March"


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("lofoten", {"lofoten"}),
        ("lofotn", {"lofoten"}),
        ("lofooten", {"lofoten"}),
        ("lofotem", {"lofoten"}),
        ("kofoten", {"lofoten"}),
        ("olfoten", {"lofoten"}),
        ("looften", {"lofoten"}),
        ("lofto", {"lofoten"}),
        ("ofoten", {"ofoten"}),
        ("marhc lofoten", {"march", "lofoten"}),
        ("lofoten april", set()),
        ("lophoten", set()),
        ("im", set()),
        ("", set()),
        ("(.*)+", set()),
        ("m" * 100, set()),
    ],
)
def test_one_letter_may_be_wrong(typed, found):
    assert SimilarWords(typed.split()).find_all(TITLE) == found
