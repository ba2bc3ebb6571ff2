"""Marks of Markdown: what is left out of a text, and what is none and stays."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.core.text.markdown_marks import find_marks, without_marks

SIGNS = st.text(alphabet="*_~`[]()<>|#-+=\\!: \nabx1h/\"'é中", max_size=80)


def shown(text, start=0, end=None):
    """Return the characters *start* to *end* of *text* as they are shown, on one line."""
    return " ".join(without_marks(text, start, end).split())


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("**bold** and *italic*, __both of__ _two kinds_, ~~gone~~", "bold and italic, both of two kinds, gone"),
        ("***all*** of **a *b* c**", "all of a b c"),
        ("## A title\nand text", "A title and text"),
        ("A title\n=====\n\ntext", "A title text"),
        ("- one\n* two\n  + three", "• one • two • three"),
        ("1. one\n2. two", "1. one 2. two"),
        ("> quoted\n> > **twice**", "quoted twice"),
        ("above\n\n---\n\nbelow\n***\nend", "above below end"),
        ("`code` and ``of two``", "code and of two"),
        ('see [the **docs**](https://example.org/a_(b) "Title")', "see the docs"),
        ("![a picture](a.png) <https://example.org>", "a picture https://example.org"),
        ("| a | b |\n| --- | :-: |\n| 1 | **2** |", "a · b 1 · 2"),
        ("```python\nx = '**'  # no title\n```\n**y**", "x = '**' # no title y"),
        ("~~~\n**x**\n~~~\n**y**", "**x** y"),
        (r"\*no emphasis\* and 1\. no list", "*no emphasis* and 1. no list"),
    ],
)
def test_marks_are_left_out(written, read):
    assert shown(written) == read


@pytest.mark.parametrize(
    "text",
    [
        "2 * 3 * 4 and 5 ** 6",
        "snake_case_name and its_other_name",
        "why __init__ and __all__",
        "a | b or a || b",
        "|x| < 3, what is x?",
        "|a| + |b| > 0",
        "x [1] and [2], y[0] (no)",
        "**begun and never ended",
        "#hashtag and C#",
        "1 < 2 > 0",
        "-5 degrees",
        "`",
        "a ` b",
        "~ about 5 ~ 6",
        "=",
        "don't",
    ],
)
def test_what_is_no_mark_stays(text):
    assert shown(text) == text


def test_what_is_in_code_stays_also_where_the_code_began_far_above():
    text = "```\n" + "x = 1\n" * 200 + "# **not** a title\n```\n# **A** title"
    at = text.index("# **not**")
    assert shown(text, at) == "# **not** a title A title"


def test_an_emphasis_that_ends_behind_the_piece_has_its_mark_left_out():
    text = "some **words that go on and on** there"
    assert shown(text, 0, 20) == "some words that go"


@given(SIGNS)
def test_marks_are_apart_and_in_the_text(text):
    spans = sorted(span for mark in find_marks(text, 0, len(text)) for span in mark)
    assert all(0 <= span.start < span.end <= len(text) for span in spans)
    assert all(before.end <= after.start for before, after in pairwise(spans))


@given(SIGNS.filter(lambda text: "```" not in text and "~~~" not in text))
def test_letters_are_left_out_in_addresses_and_names_of_languages_alone(text):
    left_out = "".join(text[span.start : span.end] for mark in find_marks(text, 0, len(text)) for span in mark)
    without_addresses = "".join(part.partition(")")[2] if at else part for at, part in enumerate(left_out.split("](")))
    assert not any(letter.isalnum() for letter in without_addresses)


@pytest.mark.parametrize(
    "sign", ["*", "_a", "`", "[", "](", "|", "> ", "-", "|-", "\\", "<https://", "#", "~~", "```\n"]
)
def test_a_piece_of_signs_alone_takes_no_time(sign):
    text = sign * 100_000
    began = time.process_time()
    find_marks(text, 50_000, 51_200)
    assert time.process_time() - began < 1
