"""A text in another writing system than what it was made of: Chinese for English is told, German for English is not."""

from __future__ import annotations

import pytest

from conversations.core.text.writing_system import is_in_another_writing_system

ENGLISH = "The night train to Bergen leaves at seven, and two seats are booked for Ada."
GERMAN = "Der Nachtzug nach Bergen fährt um sieben, und für Ada sind zwei Plätze gebucht."
RUSSIAN = "Ночной поезд в Берген отправляется в семь, для Ады забронировано два места."
CHINESE = "开往卑尔根的夜车七点出发，已为艾达预订两个座位。"
JAPANESE = "ベルゲン行きの夜行列車は七時に出発し、アダのために二席が予約されています。"
KOREAN = "베르겐행 야간열차는 일곱 시에 출발하고 아다를 위해 두 자리가 예약되어 있습니다."


@pytest.mark.parametrize("text", [RUSSIAN, CHINESE, JAPANESE, KOREAN])
def test_another_writing_system_is_told_both_ways(text):
    assert is_in_another_writing_system(text, ENGLISH)
    assert is_in_another_writing_system(ENGLISH, text)
    assert not is_in_another_writing_system(text, text)


@pytest.mark.parametrize(
    ("text", "source"),
    [
        (GERMAN, ENGLISH),  # only words would tell
        (JAPANESE, CHINESE),  # they share most of their signs
        (f"{CHINESE} Ada, Bergen", CHINESE + ENGLISH[:20]),  # names stay as they are written
        (ENGLISH, f"{CHINESE * 3} {ENGLISH}"),  # a conversation in both
        ("Berlin, Ada, 14:30", RUSSIAN + ENGLISH),
        ("", ENGLISH),
        ("2 × 3 = 6", ENGLISH),
        (ENGLISH, "1, 2, 3"),
    ],
)
def test_what_can_not_be_told_is_not_refused(text, source):
    assert not is_in_another_writing_system(text, source)


def test_only_the_beginning_of_a_long_text_is_read():
    assert not is_in_another_writing_system(ENGLISH * 400 + CHINESE * 10_000, ENGLISH)
