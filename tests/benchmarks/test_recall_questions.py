"""What the benchmark of recall counts as evidence, and how it reads its file."""

from __future__ import annotations

import datetime as dt
import json

import pytest

from tests.benchmarks._recall_questions import DatedMessage, holds_evidence, read_asked_conversations

DAY = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)


def message(words):
    return DatedMessage("m", "user", "", " ".join(["word"] * words), DAY)  # five characters a word, with its space


@pytest.mark.parametrize(
    ("words", "spans", "holds"),
    [
        (75, [(0, 1_000)], True),
        (75, [(0, 74 * 5)], False),
        (75, [(0, 40 * 5), (40 * 5, 75 * 5)], True),
        (76, [(0, 38 * 5)], True),
        (76, [(0, 37 * 5)], False),
        (100, [(0, 25 * 5), (50 * 5, 75 * 5)], True),
        (100, [(0, 30 * 5), (0, 30 * 5)], False),
        (100, [], False),
    ],
)
def test_half_of_a_long_message_is_evidence_and_all_of_a_short_one(words, spans, holds):
    assert holds_evidence(message(words), spans) is holds


def test_messages_are_dated_and_questions_are_in_the_order_in_which_they_are_asked(tmp_path):
    said = [("a", "2026-03-01 (Sunday)"), ("b", "2026-03-01 (Sunday)"), ("c", None), ("d", "2026-03-05T10:30:00")]
    file = tmp_path / "asked.json"
    questions = [
        {"text": "Late?", "evidence": ["a"], "category": "one", "after": None},
        {"text": "Early?", "evidence": [], "category": "none", "after": "b"},
    ]
    messages = [{"id": id_, "role": "user", "name": "Ada", "content": "Hello", "at": at} for id_, at in said]
    file.write_text(json.dumps({"conversations": [{"id": 1, "messages": messages, "questions": questions}]}))
    [conversation] = read_asked_conversations(file)
    times = [each.at for each in conversation.messages]
    assert times == [
        DAY,
        DAY + dt.timedelta(minutes=1),
        DAY + dt.timedelta(minutes=2),
        DAY.replace(day=5, hour=10, minute=30),
    ]
    assert [(question.text, question.place) for question in conversation.questions] == [("Early?", 2), ("Late?", 4)]
