from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.core.recall.split_message import (
    LONGEST_SENTENCE_WORDS,
    MOST_CHARACTERS,
    WHOLE_WORDS,
    split_message,
)

PIECES = [
    "word ",
    "Yes. ",
    "No!",
    "\n",
    "\n\n",
    "a" * 30,
    "火车明天开。",
    "- ",
    "…",
    "def f(x):\n    return x\n",
    " ",
    "12.5 ",
]
messages = st.lists(st.sampled_from(PIECES), max_size=400).map("".join)


def texts(content):
    return [content[span.start : span.end] for span in split_message(content)]


@given(messages | st.text())
def test_passages_hold_every_word_in_its_order(content):
    whole = [character for character in content if character.isalnum()]
    assert [character for text in texts(content) for character in text if character.isalnum()] == whole


@given(messages | st.text())
def test_passages_follow_each_other_and_are_trimmed(content):
    spans = split_message(content)
    assert all(before.end <= after.start for before, after in pairwise(spans))
    assert all(text and text == text.strip() for text in texts(content))


@given(messages | st.text())
def test_no_passage_is_longer_than_its_bound_and_each_has_a_word(content):
    assert all(0 < span.half_words <= 2 * LONGEST_SENTENCE_WORDS for span in split_message(content))
    assert all(span.end - span.start <= MOST_CHARACTERS for span in split_message(content))


@given(messages)
def test_a_message_with_a_word_has_a_passage(content):
    assert bool(split_message(content)) == any(character.isalnum() for character in content)


def test_a_short_message_is_one_passage():
    content = "  One. Two!\n\n" + "three " * (WHOLE_WORDS - 2)
    assert texts(content) == [content.strip()]


def test_a_longer_one_is_packed_from_sentences():
    sentence = "This sentence has seven words in it. "
    assert [text.count("seven") for text in texts(20 * sentence)] == [10, 10]


def test_a_last_sentence_alone_joins_the_passage_before():
    sentence = "This sentence has seven words in it. "
    assert [text.count("seven") for text in texts(11 * sentence)] == [11]


@pytest.mark.parametrize("content", [each * 50_000 for each in ("a", "中", "-", "a ", "。", "\n")])
def test_one_word_without_an_end_is_torn(content):
    spans = split_message(content)
    assert all(span.end - span.start <= MOST_CHARACTERS for span in spans)
    assert bool(spans) == any(character.isalnum() for character in content)
