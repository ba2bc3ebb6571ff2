"""What is found by words, on PostgreSQL."""

from __future__ import annotations

import pytest
from django.db import connection

from conversations.grounding.lexical_search import SEARCH, lexical_search
from tests.grounding.documents import store_document
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db
TALKS = [
    ("Build times", "Nora Lind cut the builds of a monorepo from forty minutes to six."),
    ("Testing in the dark", "How to test what nobody can see, with fakes that tell the truth."),
    ("Mobile first, twice", "Two teams, one app: a talk about phones and tablets."),
    ("移动端性能", "讲解如何缩短手机应用的启动时间。"),
]


@pytest.fixture
def conversation():
    return begin(make_user("alice"))


def found(conversation, question: str, *, most: int = 50) -> list[str]:
    reply = post(conversation, question).reply
    names = [candidate.source for candidate in lexical_search(reply.pk, question, most=most)]
    conversation.messages.filter(pk=reply.pk).update(state="complete")
    return names


@pytest.mark.parametrize(
    ("question", "heading"),
    [
        ("Is there a talk about build times?", "Build times"),
        ("and one on testing?", "Testing in the dark"),
        ("What sessions are about mobile phones?", "Mobile first, twice"),
        ("有关于启动时间的演讲吗？", "移动端性能"),
    ],
)
def test_a_passage_is_found_by_its_words_whatever_their_endings(conversation, question, heading):
    store_document(conversation, TALKS)
    assert found(conversation, question)[0] == f"guide.md › {heading}"


@pytest.mark.parametrize(
    "question", ["Hello", "thanks", "?!", "the of and", "", "Who won the cup in 1954?", "' | !x:*"]
)
def test_nothing_is_found_where_nothing_is_said_of_it(conversation, question):
    store_document(conversation, TALKS)
    assert lexical_search(post(conversation, question or "x").reply.pk, question, most=50) == []


def test_a_rare_word_counts_more_than_a_frequent_one(conversation):
    store_document(conversation, [*(f"The common story number {number}" for number in range(20)), "A heron, common"])
    assert len(found(conversation, "common heron")) == 1


def test_a_hit_in_the_heading_counts_more(conversation):
    store_document(conversation, [("Herons", "They stand in water."), ("Birds", "Herons and storks stand in water.")])
    assert found(conversation, "herons") == ["guide.md › Herons", "guide.md › Birds"]


def test_of_two_passages_with_a_word_the_shorter_is_better(conversation):
    store_document(conversation, ["A heron " + "stands in the water and waits " * 9, "A heron stands."])
    candidates = lexical_search(post(conversation, "heron").reply.pk, "heron", most=50)
    assert [len(candidate.text) < 20 for candidate in candidates] == [True, False]


def test_no_more_are_found_than_are_wanted(conversation):
    store_document(conversation, [f"Heron number {number}" for number in range(9)])
    assert len(found(conversation, "heron", most=4)) == 4


def test_documents_of_two_languages_are_found_each_by_its_own_endings(conversation):
    store_document(conversation, ["Die Häuser am See"], name="see.txt", search_language="german")
    store_document(conversation, ["The houses by the lake"], name="lake.txt")
    assert found(conversation, "Haus") == ["see.txt"]
    assert found(conversation, "house") == ["lake.txt"]


def test_a_question_of_many_words_finds_what_has_a_few_of_them(conversation):
    store_document(conversation, TALKS)
    pasted = " ".join(f"unheard{number}" for number in range(300))
    assert found(conversation, f"monorepo builds in minutes by Nora Lind {pasted}") == ["guide.md › Build times"]


def test_the_words_of_a_long_question_are_not_tried_one_by_one(conversation):
    """With 300 of them and 20,000 passages that takes seconds."""
    reply = post(conversation, "herons").reply
    with connection.cursor() as cursor:
        given = {"reply": reply.pk, "words": "herons", "subject": "herons", "most": 50}
        cursor.execute(f"EXPLAIN {SEARCH}", given)
        assert "hashed" in str(cursor.fetchall())
