from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.core.errors import EmptyMessage
from conversations.core.text.storable_text import StorablePieces, clean_content

ANY_TEXT = st.text(st.characters(exclude_categories=()))  # surrogates too


@pytest.mark.parametrize("raw", ["", " \n\t", "\x00", "\ud800", " \udfff\x00\n"])
def test_nothing_to_send_is_an_empty_message(raw):
    with pytest.raises(EmptyMessage):
        clean_content(raw)


def test_what_cannot_be_stored_is_taken_out():
    assert clean_content("a\x00b\ud800c") == "abc"


@pytest.mark.parametrize("content", ["<|endoftext|>", "  indented\n", "👩‍👩‍👧", "\u202ertl", "\ufffe"])
def test_everything_else_is_kept_as_it_was_typed(content):
    assert clean_content(content) == content


@given(ANY_TEXT)
def test_what_is_left_can_always_be_encoded(raw):
    assert b"\x00" not in clean_content(f"x{raw}").encode()


@pytest.mark.parametrize(
    ("pieces", "stored"),
    [
        (["a\ud83d", "\ude00b"], ["a", "😀b"]),
        (["\ud83d", "", "\ude00"], ["", "", "😀"]),
        (["a\ud800", "b"], ["a", "b"]),
        (["\ude00a\x00", "😀\ud83d\ude00"], ["a", "😀😀"]),
        (["a\ud83d\ud83d", "\ude00"], ["a", "😀"]),
    ],
)
def test_pieces_become_storable_as_they_come(pieces, stored):
    storable = StorablePieces()
    assert [storable.take(piece) for piece in pieces] == stored


def taken(pieces):
    storable = StorablePieces()
    return [storable.take(piece) for piece in pieces]


@given(st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00")), st.sets(st.integers(0, 60)))
def test_however_a_text_is_cut_into_pieces_it_arrives_whole(text, cuts):
    units = [chr(unit) for unit in memoryview(text.encode("utf-16-le")).cast("H")]
    edges = [0, *sorted(cut for cut in cuts if cut < len(units)), len(units)]
    pieces = ["".join(units[start:end]) for start, end in pairwise(edges)]
    assert "".join(taken(pieces)) == text


@given(st.lists(ANY_TEXT, max_size=6))
def test_every_piece_that_is_taken_can_be_stored(pieces):
    for piece in taken(pieces):
        assert b"\x00" not in piece.encode()
