"""What is rendered once is not rendered again, while there is room for it."""

from __future__ import annotations

import sys

import pytest
from django.utils.safestring import SafeString

from conversations.views.conversations.rendered_texts import RenderedTexts

KILOBYTE = sys.getsizeof("a" * 951) + sys.getsizeof(SafeString("")) - sys.getsizeof("")  # one text with little HTML


@pytest.fixture
def rendered():
    return []


@pytest.fixture
def texts(rendered):
    def render(content, passages):
        rendered.append((content[:1], passages))
        return SafeString(content[:1])

    return RenderedTexts(render, most_texts=6, most_bytes=4 * KILOBYTE)


def text(letter):
    return letter * 800


def test_a_text_is_rendered_once(texts, rendered):
    assert [texts.get(text("a"), 0) for _ in range(3)] == ["a"] * 3
    assert rendered == [("a", 0)]


def test_what_it_may_cite_makes_another_text_of_it(texts, rendered):
    texts.get(text("a"), 0), texts.get(text("a"), 1)
    assert rendered == [("a", 0), ("a", 1)]


def test_the_text_that_was_not_asked_for_longest_makes_room(texts, rendered):
    for letter in "abcdabce":  # "d" was asked for before the others when "e" comes
        texts.get(text(letter), 0)
    assert [letter for letter, _ in rendered] == list("abcde")
    texts.get(text("a"), 0)
    assert len(rendered) == 5
    texts.get(text("d"), 0)
    assert len(rendered) == 6


def test_a_long_text_takes_the_room_of_many(texts, rendered):
    for content in (text("a"), text("b"), "c" * 3_500, text("a")):
        texts.get(content, 0)
    assert [letter for letter, _ in rendered] == ["a", "b", "c", "a"]


def test_a_text_that_is_larger_than_all_room_is_not_kept(texts, rendered):
    for _ in range(2):
        assert texts.get("z" * 100_000, 0) == "z"
    texts.get(text("a"), 0), texts.get(text("a"), 0)
    assert rendered == [("z", 0), ("z", 0), ("a", 0)]


def test_short_texts_are_counted(texts, rendered):
    for letter in "abcdefgga":
        texts.get(letter, 0)
    assert [letter for letter, _ in rendered] == list("abcdefga")


def test_characters_count_with_their_bytes(texts, rendered):
    for content in (text("a"), "\U0001f600" * 900, text("a")):
        texts.get(content, 0)
    assert [letter for letter, _ in rendered] == ["a", "\U0001f600", "a"]
