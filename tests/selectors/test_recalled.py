"""Recalled passages with their text: what is stored, cut to what a page shows."""

from __future__ import annotations

import pytest

from conversations.core.window.window_record import RecallRecord
from conversations.selectors.conversations.recalled import EXCERPT_CHARACTERS, view_recalled
from tests.support.people import begin, make_user, post
from tests.support.recall import entry_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def message():
    return post(begin(make_user("alice")), "First. Then\n  the second. And the third.").message


def excerpt(entry):
    [row] = view_recalled(RecallRecord(included=(entry,))).included
    return row.excerpt


def test_a_whole_message_is_shown_on_one_line_without_dots(message):
    assert excerpt(entry_of(message)) == "First. Then the second. And the third."


def test_dots_stand_for_what_was_not_sent_of_a_message(message):
    assert excerpt(entry_of(message, 7, 26)) == "…Then the second.…"
    assert excerpt(entry_of(message, 0, 6)) == "First.…"


def test_of_a_long_passage_the_beginning_is_shown():
    long = post(begin(make_user("bob")), "word " * 400).message
    assert len(excerpt(entry_of(long))) <= EXCERPT_CHARACTERS + 1
    assert excerpt(entry_of(long)).endswith("…")


def test_each_passage_comes_with_who_said_it_and_when(message):
    record = RecallRecord(included=(entry_of(message, 0, 6),), left_out=(entry_of(message, 7, 26),))
    view = view_recalled(record)
    assert [(row.role, f"{row.at:%d %m %Y}") for row in view.included + view.left_out] == 2 * [("user", "02 11 2026")]


def test_what_was_found_by_words_says_which(message):
    found = entry_of(message, why=("words", "session"))
    record = RecallRecord(included=(found,), left_out=(entry_of(message, 0, 6, why=("words",)), entry_of(message)))
    view = view_recalled(record, question="What came second, or third?")
    assert [row.words for row in view.included + view.left_out] == [("second", "third"), (), ()]


def test_a_message_that_is_gone_leaves_its_figures(message):
    entry = entry_of(message)._replace(message=message.pk + 1_000)
    [row] = view_recalled(RecallRecord(included=(entry,))).included
    assert (row.entry.tokens, row.excerpt, row.is_active) == (12, "", False)
