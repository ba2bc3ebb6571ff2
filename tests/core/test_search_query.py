"""What is typed into search becomes words, phrases and filters; what can't be taken is told, and nothing fails."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.core.text.search_query import MOST_CHARACTERS, MOST_WORDS, QueryProblem, parse_query

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=700)  # surrogates and NUL too
LIKELY_PARTS = st.sampled_from(
    ["ferry", '"', "from:", "me", "before:2026-01-31", "in:", "is:starred", " ", ":", "的", "\\"]
)


@pytest.mark.parametrize(
    ("typed", "words", "phrases"),
    [
        ("", [], []),
        ("ferry", ["ferry"], []),
        ("night  train", ["night", "train"], []),
        ('the "night train" leaves', ["the", "leaves"], ["night train"]),
        ('"night   tra', [], ["night tra"]),
        ("“night train”", [], ["night train"]),
        ("「夜行列車」", [], ["夜行列車"]),
        ("ｆｅｒｒｙ", ["ferry"], []),
        ("fer\x00ry", ["fer", "ry"], []),
        ("c++ -- at 12:30", ["c++", "at", "12:30"], []),
        ("https://example.org/a", ["https://example.org/a"], []),
    ],
)
def test_words_and_phrases(typed, words, phrases):
    query = parse_query(typed)
    assert (query.words, query.phrases, query.problems) == (words, phrases, [])


def test_all_filters_at_once():
    query = parse_query('in:lofoten in:"my trip" from:me after:2026-01 before:2026-01-31 has:document is:starred ferry')
    assert (query.words, query.places, query.role) == (["ferry"], ["lofoten", "my trip"], "user")
    assert (query.after, query.before) == (dt.date(2026, 1, 1), dt.date(2026, 1, 31))
    assert (query.has_document, query.is_starred, query.is_archived, query.has_picture) == (True, True, False, False)
    assert not query.problems
    assert parse_query("IS:Archived").is_archived
    assert parse_query("in:archived").is_archived
    assert parse_query("from:model has:picture").role == "assistant"


@pytest.mark.parametrize(
    ("typed", "problem", "part"),
    [
        ("colour:red", QueryProblem.UNKNOWN_FILTER, "colour:"),
        ("from:bob", QueryProblem.UNKNOWN_VALUE, "from:bob"),
        ("has:sound", QueryProblem.UNKNOWN_VALUE, "has:sound"),
        ("is:nice", QueryProblem.UNKNOWN_VALUE, "is:nice"),
        ("from:", QueryProblem.NO_VALUE, "from:"),
        ("before:yesterday", QueryProblem.INVALID_DATE, "before:yesterday"),
        ("before:2026-02-30", QueryProblem.INVALID_DATE, "before:2026-02-30"),
        ("after:0000-01-01", QueryProblem.INVALID_DATE, "after:0000-01-01"),
        ("after:9999-12-31", QueryProblem.INVALID_DATE, "after:9999-12-31"),
        ("'\"`\\", QueryProblem.NO_WORD, ""),
        ("* & | ( ) !", QueryProblem.NO_WORD, ""),
        ("x" * 10_000, QueryProblem.TOO_LONG, ""),
        ("a " * 30, QueryProblem.TOO_MANY_WORDS, ""),
    ],
)
def test_what_is_not_understood_is_told(typed, problem, part):
    assert parse_query(typed).problems == [(problem, part)]


def test_an_unknown_filter_is_searched_for_as_words():
    assert parse_query("note:red").words == ["note:red"]


@pytest.mark.parametrize(
    ("typed", "goes_on"), [("fer", True), ("fer ", False), ('"fer"', False), ("fer from:me", False)]
)
def test_the_last_word_may_go_on_while_it_is_typed(typed, goes_on):
    assert parse_query(typed).ends_in_word == goes_on


@given(ANY_TEXT | st.lists(LIKELY_PARTS, max_size=60).map("".join))
def test_anything_can_be_typed(typed):
    query = parse_query(typed)
    assert len(query.text) <= MOST_CHARACTERS
    assert len(query.words) + len(query.phrases) <= MOST_WORDS
    assert not query.is_empty or not typed.strip() or query.problems
    "".join([query.text, *query.words, *query.phrases, *query.places]).encode()
    assert "\x00" not in query.text


@given(st.lists(st.sampled_from(["ferry", "Zürich", "夜行", "x1"]), max_size=MOST_WORDS))
def test_words_stay_in_their_order(words):
    assert parse_query(" ".join(words)).words == words
