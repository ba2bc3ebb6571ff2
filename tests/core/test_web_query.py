"""What a question is searched for on the web."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.core.text.web_query import ENGINE_MARKS, MOST_CHARACTERS, make_web_query


@pytest.mark.parametrize(
    ("question", "before", "query"),
    [
        ("Where do grey herons stand at night?", "What is a heron?", "Where do grey herons stand at night?"),
        ("and in winter?", "Where do grey herons stand?", "Where do grey herons stand? and in winter?"),
        ("and in winter?", "", "and in winter?"),
        ("人口呢", "巴黎有多大", "巴黎有多大 人口呢"),
        ("巴黎有多少人口", "Where do herons stand?", "巴黎有多少人口"),
        ("two\n\n  lines\tof question words", "before", "two lines of question words"),
        ("", "before", ""),
        ("?!", "before", ""),
        ("zero\u200bwidth and \u202ehidden words here", "", "zerowidth and hidden words here"),
    ],
)
def test_it_is_the_question_and_of_few_words_the_one_before_too(question, before, query):
    assert make_web_query(question, previous_question=before) == query


@pytest.mark.parametrize(
    "question", ["!g herons in the water now", ":de herons in the water now", "<900 herons in the water now"]
)
def test_no_word_of_a_question_chooses_an_engine_or_a_language(question):
    assert not any(word.startswith(tuple(ENGINE_MARKS)) for word in make_web_query(question).split())


def test_no_question_leads_away_from_the_search():
    assert make_web_query("!!google what do herons eat now") == "google what do herons eat now"


def test_a_long_question_is_cut_at_a_word():
    query = make_web_query("heron " * 500)
    assert query.endswith("heron")
    assert MOST_CHARACTERS - len("heron ") <= len(query) <= MOST_CHARACTERS


def test_a_follow_up_keeps_its_own_words_beside_a_long_question():
    query = make_web_query("and in winter?", previous_question="heron " * 500)
    assert query.endswith("heron and in winter?")
    assert len(query) <= MOST_CHARACTERS


@given(st.text(max_size=1_000), st.text(max_size=1_000))
def test_whatever_is_asked_the_query_is_one_bounded_line(question, before):
    query = make_web_query(question, previous_question=before)
    assert len(query) <= MOST_CHARACTERS
    assert query == " ".join(query.split())
    assert not any(word.startswith(tuple(ENGINE_MARKS)) for word in query.split())
