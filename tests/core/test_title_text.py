"""Titles that a model has written: what can be cleaned is, and of all else nothing is left."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.core.prompt.title_text import (
    LONGEST_CHARACTERS,
    TITLE_CHARACTERS,
    clean_title,
    shorten_title,
    title_request,
)

QUESTION = "When does the night train to Bergen leave?"
CLEANED = {
    "Night train to Bergen": "Night train to Bergen",
    '"Night train to Bergen"': "Night train to Bergen",
    "“Night train to Bergen.”": "Night train to Bergen",
    "«Night train»": "Night train",
    "# Night train": "Night train",
    "**Night train**": "Night train",
    '## **Title:** "Night train"': "Night train",
    "Title: Night train.": "Night train",
    "- `Night` train": "Night train",
    "1. Night train\n2. Bergen": "Night train",
    "\n\n  Night \t train \r\n\r\nIt leaves at seven.": "Night train",
    "Here is a title:\n\nNight train": "Night train",
    "```\nNight train\n```": "Night train",
    "<think>They ask for a train.\n\nA title.</think>\n\nNight train": "Night train",
    "They ask for a train.</think>Night train": "Night train",
    "<thinking>hm</thinking>Night train": "Night train",
    "Night train<think>was that right?": "Night train",
    "[Night train](https://example.org/)": "Night train",
    "Night\u202etrain\x00 to\u200b Bergen": "Nighttrain to Bergen",
    "“Night” and “train”": "“Night” and “train”",
    "\u2066Travel \u2764\ufe0f\u200d\U0001f525": "Travel \u2764\ufe0f\u200d\U0001f525",
    "What __init__ does in a_name * 2": "What __init__ does in a_name * 2",
    "U.S. trains in the U.S.": "U.S. trains in the U.S.",
    "Is it 7:30?": "Is it 7:30?",
}
USELESS = [
    "",
    " \n",
    "<think>They ask for a",
    "###",
    '""',
    "…",
    "***",
    "word " * 2_000,
    "x" * 10_000,
    "前往卑尔根的夜车",
]


@pytest.mark.parametrize(("written", "title"), CLEANED.items())
def test_what_can_be_cleaned_is(written, title):
    assert clean_title(written, question=QUESTION) == title


@pytest.mark.parametrize("written", USELESS)
def test_of_what_is_no_title_nothing_is_left(written):
    assert clean_title(written, question=QUESTION) == ""


def test_a_title_in_the_language_of_the_question_is_kept():
    assert clean_title("前往卑尔根的夜车", question="去卑尔根的夜车几点开?") == "前往卑尔根的夜车"
    assert clean_title("Night train", question="去卑尔根的夜车几点开?") == ""


def test_a_long_title_is_shortened_at_a_word():
    title = clean_title("Night trains " * 10, question=QUESTION)
    assert title.endswith(" Night…")
    assert len(title) <= TITLE_CHARACTERS + 1


def test_the_request_has_both_sides_as_material():
    system, user = title_request("When?", "At seven.")
    assert (system.role, user.role) == ("system", "user")
    assert user.content == "User: When?\n\nAssistant: At seven.\n\nTitle:"


SIGNS = st.sampled_from(
    ["<think>", "</think>", "```", "**", "*", "_", "`", '"', "“", "”", "'", "#", "- ", "Title:", ".", "…", "\n", " "]
)
WRITTEN = st.lists(st.one_of(SIGNS, st.text(max_size=30)), max_size=30).map("".join)


@given(WRITTEN)
def test_a_title_is_one_short_line_that_can_be_stored(written):
    title = clean_title(written, question=QUESTION)
    assert len(title) <= TITLE_CHARACTERS + 1
    assert title == " ".join(title.split())
    assert "<think>" not in title.lower()
    assert "\x00" not in title
    title.encode()
    assert not title or any(sign.isalnum() for sign in title)


@given(WRITTEN)
def test_a_clean_title_stays_as_it_is(written):
    title = clean_title(written, question=QUESTION)
    assert clean_title(title, question=QUESTION) == title


@given(st.text(alphabet="abc .…", max_size=LONGEST_CHARACTERS))
def test_a_short_title_stays_as_it_is(line):
    assert shorten_title(shorten_title(line)) == shorten_title(line)
