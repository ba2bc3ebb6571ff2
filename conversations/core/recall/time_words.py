"""The words for times that are read in questions, in English, German and Chinese: one table for each kind of word."""

from __future__ import annotations

import re
from collections.abc import Collection

from conversations.core.text.unspaced_scripts import UNSPACED

_DIGITS = "一二三四五六七八九"
_CHINESE_NUMBERS = {
    **{digit: number for number, digit in enumerate(_DIGITS, 1)},
    **{f"{tens}十": 10 * number for number, tens in enumerate(("", "二", "三"), 1)},
    **{
        f"{tens}十{digit}": 10 * number + ones
        for number, tens in enumerate(("", "二", "三"), 1)
        for ones, digit in enumerate(_DIGITS, 1)
    },
}

NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
    "einem": 1, "einer": 1, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7, "acht": 8,
    "neun": 9, "zehn": 10, "elf": 11, "zwölf": 12,
    **_CHINESE_NUMBERS, "两": 2, "兩": 2,
}  # fmt: skip
VAGUE_NUMBERS = {
    "a couple of": 2, "a couple": 2, "a few": 3, "several": 4,
    "ein paar": 3, "einigen": 3,
    "几": 3, "幾": 3,
}  # fmt: skip
UNITS = {
    "day": "day", "days": "day", "week": "week", "weeks": "week", "month": "month", "months": "month",
    "year": "year", "years": "year",
    "tag": "day", "tagen": "day", "woche": "week", "wochen": "week", "monat": "month", "monaten": "month",
    "jahr": "year", "jahren": "year",
    "天": "day", "日": "day", "周": "week", "週": "week", "个星期": "week", "個星期": "week", "星期": "week",
    "个礼拜": "week", "個禮拜": "week", "个月": "month", "個月": "month", "年": "year",
}  # fmt: skip
MONTHS = {
    "january": 1, "february": 2, "march": 3, "april": 4, "may": 5, "june": 6, "july": 7, "august": 8,
    "september": 9, "october": 10, "november": 11, "december": 12,
    "januar": 1, "februar": 2, "märz": 3, "mai": 5, "juni": 6, "juli": 7, "oktober": 10, "dezember": 12,
}  # fmt: skip
SHORT_MONTHS = {
    "jan": 1, "feb": 2, "mar": 3, "apr": 4, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "sept": 9, "oct": 10,
    "nov": 11, "dec": 12,
    "mär": 3, "okt": 10, "dez": 12,
}  # fmt: skip
WEEKDAYS = {
    "monday": 0, "tuesday": 1, "wednesday": 2, "thursday": 3, "friday": 4, "saturday": 5, "sunday": 6,
    "montag": 0, "dienstag": 1, "mittwoch": 2, "donnerstag": 3, "freitag": 4, "samstag": 5, "sonnabend": 5,
    "sonntag": 6,
}  # fmt: skip
CHINESE_WEEKDAYS = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6}
DAYS_BACK = {
    "today": 0, "yesterday": 1, "last night": 1, "the day before yesterday": 2, "day before yesterday": 2,
    "heute": 0, "gestern": 1, "vorgestern": 2,
    "今天": 0, "昨天": 1, "昨晚": 1, "前天": 2, "大前天": 3,
}  # fmt: skip
LAST_SPANS = {
    "last week": "week", "last weekend": "weekend", "last month": "month", "last year": "year",
    "letzte woche": "week", "letzter woche": "week", "vorige woche": "week", "voriger woche": "week",
    "letztes wochenende": "weekend", "letzten wochenende": "weekend",
    "letzten monat": "month", "vorigen monat": "month", "letztes jahr": "year", "voriges jahr": "year",
    "letzten jahr": "year", "vorigen jahr": "year",
    "上周": "week", "上週": "week", "上星期": "week", "上个星期": "week", "上個星期": "week", "上个礼拜": "week",
    "上周末": "weekend", "上週末": "weekend", "上个周末": "weekend", "上個週末": "weekend",
    "上个月": "month", "上個月": "month", "上月": "month", "去年": "year",
}  # fmt: skip


def any_of(words: Collection[str]) -> str:
    """Return a pattern for one of *words*, the longest that is there; those with spaces between them stand alone."""
    longest_first = sorted(words, key=len, reverse=True)
    unspaced = [re.escape(word) for word in longest_first if re.match(f"[{UNSPACED}]", word)]
    spaced = [r"\s".join(map(re.escape, word.split())) for word in longest_first if word not in unspaced]
    alone = [rf"\b(?:{'|'.join(spaced)})\b"] if spaced else []
    return f"(?:{'|'.join([*alone, *unspaced])})"


def plain(word: str) -> str:
    """Return a word as the tables have it."""
    return " ".join(word.lower().split())
