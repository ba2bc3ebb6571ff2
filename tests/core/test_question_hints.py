from __future__ import annotations

import datetime as dt
from time import thread_time

import pytest

from conversations.core.recall import question_hints
from conversations.core.recall.named_times import NamedTime
from conversations.core.recall.question_hints import read_hints

TODAY = dt.date(2026, 11, 22)  # a Sunday


@pytest.mark.parametrize(
    ("question", "day"),
    [
        ("What did I say on 2026-03-05?", (2026, 3, 5)),
        ("What happened on March 5th?", (2026, 3, 5)),
        ("What happened on the 5th of March 2025?", (2025, 3, 5)),
        ("And on Mar 14?", (2026, 3, 14)),
        ("And on 14 Sept. 2025?", (2025, 9, 14)),
        ("On March 14: what did it cost?", (2026, 3, 14)),
        ("And on December 24?", (2025, 12, 24)),
        ("And on 14.03.2026?", (2026, 3, 14)),
        ("And on 3/14/2026?", (2026, 3, 14)),
        ("And on 14/3/2026?", (2026, 3, 14)),
        ("And on 3/3/2026?", (2026, 3, 3)),
        ("Was war am 5. März?", (2026, 3, 5)),
        ("Was war am 5. Okt 2025?", (2025, 10, 5)),
        ("我在2026年3月5日说了什么？", (2026, 3, 5)),
        ("三月十四日我们谈了什么？", (2026, 3, 14)),
        ("十二月二十四号呢？", (2025, 12, 24)),
        ("去年三月五日呢？", (2025, 3, 5)),
        ("What did we decide today?", (2026, 11, 22)),
        ("Was haben wir heute beschlossen?", (2026, 11, 22)),
        ("今天我们说了什么？", (2026, 11, 22)),
        ("What did we say yesterday?", (2026, 11, 21)),
        ("Was war gestern?", (2026, 11, 21)),
        ("The day before yesterday?", (2026, 11, 20)),
        ("前天呢？", (2026, 11, 20)),
        ("Whom did I meet three days ago?", (2026, 11, 19)),
        ("Whom did I meet ten days ago?", (2026, 11, 12)),
        ("Wen traf ich vor drei Tagen?", (2026, 11, 19)),
        ("三天前我见了谁？", (2026, 11, 19)),
        ("十二天前我见了谁？", (2026, 11, 10)),
        ("And last Friday?", (2026, 11, 20)),
        ("And on Sunday?", (2026, 11, 15)),
        ("Und letzten Montag?", (2026, 11, 16)),
        ("Und am Montag?", (2026, 11, 16)),
        ("周一我说了什么？", (2026, 11, 16)),
        ("上周一我说了什么？", (2026, 11, 9)),
        ("上个星期天呢？", (2026, 11, 15)),
        ("What happened on Friday the 13th of March?", (2026, 3, 13)),
        ("What happened on Tuesday, March 10?", (2026, 3, 10)),
        ("Was war am Freitag, dem 13. März?", (2026, 3, 13)),
        ("3月13日星期五呢？", (2026, 3, 13)),
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
        ("What did we plan in Nov?", (2026, 11, 1), (2026, 11, 30)),
        ("What about March 2025?", (2025, 3, 1), (2025, 3, 31)),
        ("Und im Dez. 2024?", (2024, 12, 1), (2024, 12, 31)),
        ("In December 9999?", (9999, 12, 1), (9999, 12, 31)),
        ("三月我们谈了什么？", (2026, 3, 1), (2026, 3, 31)),
        ("2025年3月呢？", (2025, 3, 1), (2025, 3, 31)),
        ("What did I read last month?", (2026, 10, 1), (2026, 10, 31)),
        ("What did I read last week?", (2026, 11, 9), (2026, 11, 15)),
        ("Where was I last weekend?", (2026, 11, 14), (2026, 11, 15)),
        ("Where was I last year?", (2025, 1, 1), (2025, 12, 31)),
        ("Was las ich letzte Woche?", (2026, 11, 9), (2026, 11, 15)),
        ("Was las ich letzten Monat?", (2026, 10, 1), (2026, 10, 31)),
        ("Was las ich letztes Jahr?", (2025, 1, 1), (2025, 12, 31)),
        ("Wo war ich letztes Wochenende?", (2026, 11, 14), (2026, 11, 15)),
        ("上周我读了什么？", (2026, 11, 9), (2026, 11, 15)),
        ("上个月我读了什么？", (2026, 10, 1), (2026, 10, 31)),
        ("上周末我在哪里？", (2026, 11, 14), (2026, 11, 15)),
        ("去年我在哪里？", (2025, 1, 1), (2025, 12, 31)),
        ("What did I say a couple of days ago?", (2026, 11, 19), (2026, 11, 21)),
        ("What did I say a few weeks ago?", (2026, 10, 25), (2026, 11, 8)),
        ("Was sagte ich vor ein paar Tagen?", (2026, 11, 18), (2026, 11, 20)),
        ("几天前我说了什么？", (2026, 11, 18), (2026, 11, 20)),
        ("What did I say two weeks ago?", (2026, 11, 6), (2026, 11, 10)),
        ("Was sagte ich vor zwei Wochen?", (2026, 11, 6), (2026, 11, 10)),
        ("两周前我说了什么？", (2026, 11, 6), (2026, 11, 10)),
        ("What did I say between March 3 and March 9?", (2026, 3, 3), (2026, 3, 9)),
        ("What did I say between March 3 and 9?", (2026, 3, 3), (2026, 3, 9)),
        ("What did I say from 3 March to 9 April?", (2026, 3, 3), (2026, 4, 9)),
        ("What did I say between the 3rd and the 9th of March?", (2026, 3, 3), (2026, 3, 9)),
        ("What did I say between March 3 and March 9, 2024?", (2024, 3, 3), (2024, 3, 9)),
        ("What did I say from December 28 to January 3, 2025?", (2024, 12, 28), (2025, 1, 3)),
        ("And 2026-03-03 to 2026-03-09?", (2026, 3, 3), (2026, 3, 9)),
        ("Was war zwischen dem 3. und dem 9. März?", (2026, 3, 3), (2026, 3, 9)),
        ("Was war vom 3. März bis zum 9. April?", (2026, 3, 3), (2026, 4, 9)),
        ("3月3日到9日我们谈了什么？", (2026, 3, 3), (2026, 3, 9)),
        ("三月三日到四月九日我们谈了什么？", (2026, 3, 3), (2026, 4, 9)),
    ],
)
def test_a_span_of_days_is_read(question, first, last):
    [time] = read_hints(question, today=TODAY).times
    assert (time.first, time.last) == (dt.date(*first), dt.date(*last))


def test_a_date_that_two_countries_read_differently_is_both():
    times = read_hints("What did we decide on 3/4/2026?", today=TODAY).times
    assert {time.first for time in times} == {dt.date(2026, 3, 4), dt.date(2026, 4, 3)}


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("What did I say on March 3 and March 9?", [(3, 3), (3, 9)]),
        ("Was it on March 3 or on Friday, 6 March?", [(3, 3), (3, 6)]),
    ],
)
def test_two_days_that_are_no_span_are_two(question, days):
    times = read_hints(question, today=TODAY).times
    assert times == tuple(NamedTime(dt.date(2026, *day), dt.date(2026, *day), times[0].fade_days) for day in days)


@pytest.mark.parametrize(
    "question",
    [
        "May I ask?",
        "I march on.",
        "2026-13-45",
        "99999 days ago",
        "on 31 February",
        "13/13/2026",
        "Version 1.10.3.2026 is out.",
        "What should I do today?",
        "What do you think of Jan?",
        "三个月够吗？",
        "每周三有课。",
        "一周一次",
        "I always work on Mondays.",
    ],
)
def test_what_names_no_day_has_none(question):
    assert read_hints(question, today=TODAY).times == ()


@pytest.mark.parametrize(
    ("question", "speaker"),
    [
        ("What did Maria say of Bergen?", "Maria Berg"),
        ("What did Maria tell Tom?", None),
        ("What did Maria say when I told her of Bergen?", "Maria Berg"),
        ("Which book did you suggest?", "assistant"),
        ("What did you say about Bergen?", "assistant"),
        ("What did you tell me about Bergen?", "assistant"),
        ("Which list did you give me?", "assistant"),
        ("What did you write about Bergen?", "assistant"),
        ("What did you already recommend?", "assistant"),
        ("What have you told me of Bergen?", "assistant"),
        ("Use the recipe you gave me.", "assistant"),
        ("And your second suggestion?", "assistant"),
        ("What did you say when I told you about Ada?", "assistant"),
        ("Was hast du vorgeschlagen?", "assistant"),
        ("Was hast du mir damals über Bergen gesagt?", "assistant"),
        ("Was haben Sie empfohlen?", "assistant"),
        ("Das Buch, das du mir empfohlen hast?", "assistant"),
        ("Was war dein Vorschlag?", "assistant"),
        ("你之前说的书是哪本？", "assistant"),
        ("你建议的书是哪本？", "assistant"),
        ("你跟我说了什么？", "assistant"),
        ("你告诉过我什么？", "assistant"),
        ("What did I say about Bergen?", "user"),
        ("Did I ever tell you where Ada lives?", "user"),
        ("I told you where Ada lives, where was it?", "user"),
        ("I've already mentioned the lighthouse.", "user"),
        ("What did I tell you when you suggested the boat?", "user"),
        ("Was habe ich dir über Ada gesagt?", "user"),
        ("Ich habe dir schon gesagt, wo sie wohnt.", "user"),
        ("我之前说的那本书？", "user"),
        ("我告诉过你什么？", "user"),
        ("我在卑尔根说了什么？", "user"),
        ("我跟你说过吗？", "user"),
        ("I told you what I want, and you told me no.", None),
        ("What is a book?", None),
        ("What do you suggest?", None),
        ("Can you tell me a story?", None),
        ("Please give me a list.", None),
        ("你能告诉我吗？", None),
    ],
)
def test_the_one_speaker_that_is_named_is_read(question, speaker):
    assert read_hints(question, today=TODAY, names={"Maria Berg", "Tom", "User"}).speaker == speaker


@pytest.mark.parametrize(
    "words",
    [
        "on monday ",
        "March 3 and ",
        "3 of ",
        "3/",
        "you have ",
        "hast du a ",
        "between 3 ",
        "today did ",
        "你在",
        " ",
        "十",
        "a ",
    ],
)
def test_reading_a_longer_question_takes_longer_only_in_proportion(words, monkeypatch):
    """Of one that is sixteen times as long; with the square of its length it would take 256 times as long."""
    monkeypatch.setattr(question_hints, "MOST_CHARACTERS", 32_000)

    def cpu_seconds(length: int) -> float:
        question = (words * length)[:length]
        began = thread_time()
        read_hints(question, today=TODAY)
        return thread_time() - began

    assert min(cpu_seconds(32_000) for _ in range(2)) < 64 * min(cpu_seconds(2_000) for _ in range(5)) + 0.01


def test_names_of_roles_in_an_import_are_the_roles():
    """Some name each message of the user "User", and each reply "Assistant"."""
    hints = read_hints("Which book did you suggest?", today=TODAY, names={"User", "Assistant"})
    assert hints.names("assistant", "Assistant")
    assert hints.names("assistant", None)
    assert not hints.names("user", "User")
    assert not hints.names("assistant", "Ada")
