"""Which words of a question a text has."""

from __future__ import annotations

import pytest

from conversations.grounding.recall.shared_words import MOST_SHARED, shared_words

pytestmark = pytest.mark.django_db


def shared(question, text):
    [words] = shared_words(question, [text])
    return words


def test_words_are_shared_in_any_form_and_told_as_they_were_asked():
    assert shared("Where did the boats sail?", "My boat sails well.") == ("boats", "sail")


def test_stop_words_and_politeness_are_no_reason():
    assert shared("Thanks, and where is the sun?", "Thanks! Here is the moon.") == ()


def test_of_two_forms_of_one_word_the_first_is_told():
    assert shared("Boat or boats?", "Boats are fine.") == ("Boat",)


def test_each_text_has_its_own_words_in_the_order_of_the_question():
    assert shared_words("sister Ada Bergen", ["Bergen and Ada", "a sister", "nothing"]) == [
        ("Ada", "Bergen"),
        ("sister",),
        (),
    ]


def test_of_very_many_words_some_are_told():
    many = " ".join(f"word{number}" for number in range(50))
    assert len(shared(many, many)) == MOST_SHARED


def test_chinese_is_shared_by_pairs_of_characters():
    assert shared("北京天气", "我住北京") == ("北京",)


def test_a_question_without_words_shares_none():
    assert shared("?!", "What?") == ()
