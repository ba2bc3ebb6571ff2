"""The questions that retrieval is judged by name talks that exist, each question once, and are of every kind."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.support.source import PROJECT

DATA = json.loads((Path(__file__).parent / "data/conference_questions.json").read_text(encoding="utf-8"))
QUESTIONS = DATA["questions"]
TALKS = {talk["id"]: talk for talk in json.loads((PROJECT / DATA["documents"]).read_text(encoding="utf-8"))}
STEM_CHARACTERS = 6
FEWEST = {
    "direct": 20,
    "paraphrase": 20,
    "unanswerable": 15,
    "broad": 5,
    "follow-up": 5,
    "typo": 5,
    "chinese": 5,
    "speaker": 5,
    "schedule": 5,
}
# Words that say nothing of what is looked for.
EMPTY = set(
    """
    a after all always and anything are at be by can cannot do few for from have how i if in into is it just me my no
    not nothing of on once one our out so than that the their then there those to too what while who why with without
    """.split()  # noqa: SIM905 - fifty quoted words are no easier to read
)


def stems(text: str) -> set[str]:
    return {word[:STEM_CHARACTERS] for word in re.findall(r"[a-z]+", text.lower()) if word not in EMPTY}


def asked(question: dict[str, object]) -> str:
    return str(question["question"])


def test_each_question_is_asked_once():
    assert [question for question, times in Counter(each["question"] for each in QUESTIONS).items() if times > 1] == []


def test_its_talks_exist_and_are_named_once():
    for question in QUESTIONS:
        assert set(question["relevant"]) <= TALKS.keys(), question
        assert len(set(question["relevant"])) == len(question["relevant"]), question


def test_there_are_enough_of_every_kind():
    kinds = Counter(question["kind"] for question in QUESTIONS)
    assert kinds.keys() == FEWEST.keys()
    assert all(kinds[kind] >= fewest for kind, fewest in FEWEST.items()), kinds


def test_only_those_that_nothing_answers_have_no_talk():
    assert all((question["kind"] == "unanswerable") == (not question["relevant"]) for question in QUESTIONS)
    assert sum(bool(question["relevant"]) for question in QUESTIONS) >= 80


@pytest.mark.parametrize("question", [each for each in QUESTIONS if each["kind"] == "paraphrase"], ids=asked)
def test_a_paraphrase_shares_no_word_with_its_talks(question):
    for talk in question["relevant"]:
        assert not stems(question["question"]) & stems(json.dumps(list(TALKS[talk].values()))), TALKS[talk]["title"]


def test_the_same_talk_given_or_listed_twice_is_named_as_such():
    abstracts = [[TALKS[talk]["abstract"] for talk in pair] for pair in DATA["same"]]
    assert len(abstracts) == 4
    assert all(one == other for one, other in abstracts)
