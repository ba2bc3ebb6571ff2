"""Received text is what came, and takes the memory of its UTF-8."""

from __future__ import annotations

import sys

from hypothesis import given
from hypothesis import strategies as st

from conversations.core.text.received_text import ReceivedText

PIECES = st.lists(st.text(st.characters(exclude_categories=()), max_size=20), max_size=10)


@given(PIECES)
def test_it_is_what_came(pieces):
    received = ReceivedText()
    for piece in pieces:
        received.add(piece)
    assert str(received) == "".join(pieces)
    assert bool(received) == bool("".join(pieces))


@given(st.text(), st.text())
def test_it_moves_behind_another(before, text):
    other, received = ReceivedText(before), ReceivedText(text)
    received.move_to(other)
    assert (str(other), str(received), bool(received)) == (before + text, "", False)


def test_it_takes_little_more_than_its_utf_8():
    received, words = ReceivedText(), 10_000
    for _ in range(words):
        received.add("word ")
    received.add("🙂")
    assert sys.getsizeof(received._utf8) < 1.2 * words * len("word ")
    assert sys.getsizeof(str(received)) > 3 * words * len("word ")
