from __future__ import annotations

import datetime as dt

import pytest

from conversations.core.recall.question_hints import read_hints

TODAY = dt.date(2026, 11, 22)  # a Sunday


@pytest.mark.parametrize(
    ("question", "day"),
    [
        ("What did I say on 2026-03-05?", (2026, 3, 5)),
        ("What happened on March 5th?", (2026, 3, 5)),
        ("What happened on the 5th of March 2025?", (2025, 3, 5)),
        ("And on December 24?", (2025, 12, 24)),
        ("Was war am 5. März?", (2026, 3, 5)),
        ("我在2026年3月5日说了什么？", (2026, 3, 5)),
        ("What did we say yesterday?", (2026, 11, 21)),
        ("Whom did I meet three days ago?", (2026, 11, 19)),
        ("And last Friday?", (2026, 11, 20)),
        ("And on Sunday?", (2026, 11, 15)),
    ],
)
def test_a_day_is_read(question, day):
    hints = read_hints(question, today=TODAY)
    assert [(time.first, time.last) for time in hints.times] == [(dt.date(*day), dt.date(*day))]
    assert hints.nearness(dt.date(*day)) == 1
    assert 0 < hints.nearness(dt.date(*day) + dt.timedelta(days=4)) < 0.5


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("What did we plan in May?", (2026, 5, 1), (2026, 5, 31)),
        ("What did we plan in December?", (2025, 12, 1), (2025, 12, 31)),
        ("What did I read last month?", (2026, 10, 1), (2026, 10, 31)),
        ("What did I read last week?", (2026, 11, 9), (2026, 11, 15)),
    ],
)
def test_a_month_or_a_week_is_read(question, first, last):
    [time] = read_hints(question, today=TODAY).times
    assert (time.first, time.last) == (dt.date(*first), dt.date(*last))


@pytest.mark.parametrize("question", ["May I ask?", "I march on.", "2026-13-45", "99999 days ago", "on 31 February"])
def test_what_names_no_day_has_none(question):
    assert read_hints(question, today=TODAY).times == ()


@pytest.mark.parametrize(
    ("question", "speaker"),
    [
        ("What did Maria say of Bergen?", "Maria Berg"),
        ("What did Maria tell Tom?", None),
        ("Which book did you suggest?", "assistant"),
        ("What is a book?", None),
    ],
)
def test_the_one_speaker_that_is_named_is_read(question, speaker):
    assert read_hints(question, today=TODAY, names={"Maria Berg", "Tom", "User"}).speaker == speaker
