"""The figures of retrieval say what they mean."""

from __future__ import annotations

import json
import math

import pytest

from tests.benchmarks._retrieval import Question, Records, quality, vector_of
from tests.benchmarks.grounding_cost import cost_of


def asked(*relevant: str) -> Question:
    return Question("?", frozenset(relevant), "question")


def test_recall_counts_what_could_be_found_at_that_rank():
    figures = quality([(asked("a", "b"), ["x", "a", "y", "b"])], ranks=(1, 2, 4))
    assert figures.recall == {1: 0.0, 2: 0.5, 4: 1.0}
    assert figures.reciprocal_rank == 0.5


def test_a_question_whose_answer_is_not_found_counts_as_nothing():
    figures = quality([(asked("a"), ["a"]), (asked("b"), [])], ranks=(1,))
    assert (figures.recall[1], figures.reciprocal_rank) == (0.5, 0.5)


def test_questions_without_an_answer_are_counted_apart():
    figures = quality([(asked("a"), ["a"]), (asked(), []), (asked(), ["a"])], ranks=(1,))
    assert (figures.questions, figures.without, figures.nothing_found) == (1, 2, 0.5)


def test_of_records_that_say_the_same_any_one_is_right(tmp_path):
    data = {"documents": [{"id": "a"}], "same": [["a", "b"]], "questions": [{"question": "?", "relevant": ["b"]}]}
    (tmp_path / "data.json").write_text(json.dumps(data))
    records = Records.read(tmp_path / "data.json")
    assert records.questions[0].relevant == {"a"}
    assert records.same["b"] == "a"


def likeness(one: str, other: str) -> float:
    return sum(map(float.__mul__, vector_of(one), vector_of(other)))


def test_a_vector_likens_words_by_their_letters():
    assert likeness("batteries", "bateries") > 0.3 > likeness("batteries", "volcano")
    assert math.isclose(likeness("batteries", "batteries"), 1)
    assert vector_of("is there any") == vector_of("") == [0.0] * len(vector_of(""))


def test_what_is_saved_is_every_earlier_grounding():
    cost = cost_of([(100, 60), (110, 60), (50, 0)], budget_tokens=165)
    assert (cost.sent, cost.resent, cost.refused) == (260, 260 + 60 + 120, 2)
    assert cost.saved == pytest.approx(180 / 440)
