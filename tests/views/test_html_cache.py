"""What is drawn once is not drawn again, while there is room for it."""

from __future__ import annotations

import pytest

from conversations.views.conversations.html_cache import HtmlCache

KILOBYTE = 1_024


@pytest.fixture
def made():
    return []


@pytest.fixture
def get(made):
    cache = HtmlCache(most_entries=6, most_bytes=4 * KILOBYTE)

    def get(name, html="h" * 700):
        def make():
            made.append(name)
            return html

        return cache.get(name, make)

    return get


def test_html_is_made_once(get, made):
    assert [get("a", "<p>a</p>") for _ in range(3)] == ["<p>a</p>"] * 3
    assert made == ["a"]


def test_it_is_safe_however_it_was_found(get):
    assert [hasattr(get("a"), "__html__") for _ in range(2)] == [True, True]


def test_what_differs_in_any_value_is_made_for_itself(get, made):
    for made_from in (("a", 0), ("a", 1), ("a", "1"), ("a", 1)):
        get(made_from)
    assert made == [("a", 0), ("a", 1), ("a", "1")]


def test_what_was_not_asked_for_longest_makes_room(get, made):
    for name in "abcdabce":  # "d" was asked for before the others when "e" comes
        get(name)
    assert made == list("abcde")
    get("a")
    assert len(made) == 5
    get("d")
    assert len(made) == 6


def test_what_is_long_takes_the_room_of_many(get, made):
    get("a"), get("b"), get("c", "c" * 3_500), get("a")
    assert made == ["a", "b", "c", "a"]


def test_what_is_larger_than_all_room_is_not_kept(get, made):
    for _ in range(2):
        assert len(get("z", "z" * 100_000)) == 100_000
    get("a"), get("a")
    assert made == ["z", "z", "a"]


def test_what_is_short_is_counted(get, made):
    for name in "abcdefgga":
        get(name, "")
    assert made == list("abcdefga")


def test_characters_count_with_their_bytes(get, made):
    get("a"), get("b", "\U0001f600" * 900), get("a")
    assert made == ["a", "b", "a"]


def test_half_a_pair_of_code_units_comes_back_as_it_was(get):
    assert get("\ud800", "\ud800") == get("\ud800") == "\ud800"
