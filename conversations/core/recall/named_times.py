"""Which days, weeks, months and years a question names, told from the day on which it is asked."""

from __future__ import annotations

import calendar
import datetime as dt
import math
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .time_words import (
    CHINESE_WEEKDAYS,
    DAYS_BACK,
    LAST_SPANS,
    MONTHS,
    NUMBERS,
    SHORT_MONTHS,
    UNITS,
    VAGUE_NUMBERS,
    WEEKDAYS,
    any_of,
    plain,
)

DAYS_FADE = 3.0  # a day away counts e^(-1/3)
SPANS_FADE = 10.0  # outside of a week or month that is named
DAYS_OF = {"day": 1, "week": 7, "month": 30, "year": 365}
SLACK_OF = {"day": 0, "week": 2, "month": 10, "year": 60}  # days: so many weeks ago is no day
VAGUE_SLACK_OF = {"day": 1, "week": 7, "month": 30, "year": 180}
MOST_GAP = 24  # characters between two parts of one time

_MONTH_NAMES = MONTHS | SHORT_MONTHS
_MONTH = rf"(?:{'|'.join(sorted(_MONTH_NAMES, key=len, reverse=True))})"
_CHINESE_NUMBER = r"(?:\d{1,2}|[一二三]?十[一二三四五六七八九]?|[一二三四五六七八九])"
_CHINESE_YEAR = r"(?:(?<!\d)(?P<year>\d{4}|去)年)?"
_ORDINAL = r"(?:st|nd|rd|th|\.)?"
_TO = r"\s?(?:-|–|—|to|until|till|through|and|bis|und)\s?(?:the\s|zum\s|dem\s|den\s)?"
ISO_DAY = re.compile(r"(?<![\d.])(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})(?!\d)")
CHINESE_DAY = re.compile(
    rf"{_CHINESE_YEAR}(?<!\d)(?P<month>{_CHINESE_NUMBER})月(?P<day>{_CHINESE_NUMBER})[日号號]"
    rf"(?:[到至—-](?P<until>{_CHINESE_NUMBER})[日号號])?"
)
DOTTED_DAY = re.compile(r"(?<![\d.])(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?(?P<year>\d{4})(?!\d|\.\d)")
# Where the day stands before the month in some countries, and after it in others.
SLASHED_DAY = re.compile(
    r"(?<![\d/-])(?P<first>\d{1,2})(?P<mark>[/-])(?P<second>\d{1,2})(?P=mark)(?P<year>\d{4})(?!\d)"
)
DAY_AFTER_MONTH = re.compile(
    rf"\b(?P<month>{_MONTH})\.?\s(?P<day>\d{{1,2}}){_ORDINAL}(?!\w|\s?\d*:\d)"
    rf"(?:{_TO}(?P<until>\d{{1,2}}){_ORDINAL}(?!\w|\s?\d*:\d|\s(?:of\s)?{_MONTH}\b))?(?:,?\s(?P<year>\d{{4}})\b)?",
    re.IGNORECASE,
)
DAY_BEFORE_MONTH = re.compile(
    rf"\b(?:(?P<since>\d{{1,2}}){_ORDINAL}{_TO})?(?P<day>\d{{1,2}}){_ORDINAL}\s(?:of\s)?(?P<month>{_MONTH})\b\.?"
    rf"(?:,?\s(?P<year>\d{{4}})\b)?",
    re.IGNORECASE,
)
BETWEEN = re.compile(r"\b(?:between|from|zwischen|vom)\b|[从從在]", re.IGNORECASE)
UP_TO = re.compile(r"\s*(?:-|–|—|(?:to|until|till|through|bis)\b|[到至])\s*(?:(?:the|zum|dem|den)\s+)?", re.IGNORECASE)
AND = re.compile(r"\s*(?:(?:and|und)\b|[和与與])\s*(?:(?:the|zum|dem|den)\s+)?", re.IGNORECASE)
# "may" and "march" are words, too: a month alone needs a year, or a capital and something before it.
WHOLE_MONTHS = (
    re.compile(
        r"\b(?P<before>in|of|during|since|last|this|im|seit|letzten)\s(?P<month>(?-i:[A-ZÄÖÜ])\w{1,20})"
        r"(?:\.?,?\s(?P<year>\d{4})\b)?",
        re.IGNORECASE,
    ),
    re.compile(rf"\b(?P<month>{_MONTH})\.?,?\s(?P<year>\d{{4}})\b", re.IGNORECASE),
    re.compile(rf"{_CHINESE_YEAR}(?<![\d第个個])(?P<month>{_CHINESE_NUMBER})月(?!\d|[一二三四五六七八九十])"),
)
_COUNT = rf"(?P<count>\d{{1,3}}|{any_of([*NUMBERS, *VAGUE_NUMBERS])})"
AGO = (
    re.compile(rf"(?<![\w.]){_COUNT}\s(?P<unit>(?:day|week|month|year)s?)\sago\b", re.IGNORECASE),
    re.compile(rf"\bvor\s{_COUNT}\s(?P<unit>Tag(?:en)?|Wochen?|Monat(?:en)?|Jahr(?:en)?)\b", re.IGNORECASE),
    re.compile(
        rf"(?<![\d第]){_COUNT}\s?(?P<unit>{any_of([unit for unit in UNITS if not unit.isascii()])})(?:以|之)?前"
    ),
)
WEEKDAY = re.compile(rf"\b(?:last|on|past|am|letzten|vorigen|vergangenen)\s(?P<name>{any_of(WEEKDAYS)})", re.IGNORECASE)
CHINESE_WEEKDAY = re.compile(
    r"(?<![每下本这這一两兩三几幾])(?P<last>上个?|上個)?(?:[周週](?P<short>[一二三四五六日])|(?:星期|礼拜|禮拜)(?P<name>[一二三四五六日天]))"
    r"(?![直起共般次])"
)
BESIDE = re.compile(r"[\s,(（，]*(?:(?:the|den|dem|der)\s)?", re.IGNORECASE)
BACK = re.compile(any_of(DAYS_BACK), re.IGNORECASE)
# What is said of today is mostly about to come: it is looked for where a question is about what was.
ABOUT_THE_PAST = re.compile(
    r"\b(?:did|said|told|wrote|earlier|gesagt|geschrieben|erzählt|(?:habe?|hast|haben|hatten?)\s(?:ich|du|wir|Sie))\b|[了过過]",
    re.IGNORECASE,
)
LAST = re.compile(any_of(LAST_SPANS) + r"(?![\d一二三四五六七八九十日]|(?<=[期拜])天)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NamedTime:
    """The days from *first* to *last*; a day before or after them counts less, by *fade_days*."""

    first: dt.date
    last: dt.date
    fade_days: float

    def nearness(self, day: dt.date) -> float:
        """Return 1 for a day within, falling towards 0 outside."""
        outside = max((self.first - day).days, (day - self.last).days, 0)
        return math.exp(-outside / self.fade_days)


@dataclass(frozen=True, slots=True)
class _Written:
    """A date, or two of one month, as written from *start* to *end*: each of its readings that there is, or None.

    Of the two readings the first has the day before the month; mostly they are the same.
    """

    start: int
    end: int
    readings: tuple[NamedTime | None, NamedTime | None]


def read_times(question: str, *, today: dt.date) -> list[NamedTime]:
    """Return the times that *question* names; a whole month only if it names nothing else."""
    question = " ".join(question.split())
    written = _without_overlaps(sorted(_written_days(question, today), key=lambda day: (day.start, -day.end)))
    named = [*_days_and_spans(question, written, today), *_weekdays(question, written, today)]
    named += [*_days_back(question, today), *_ago(question, today), *_last_spans(question, today)]
    return list(dict.fromkeys(named)) or list(dict.fromkeys(_whole_months(question, today)))


def _written_days(question: str, today: dt.date) -> Iterator[_Written]:
    for match in ISO_DAY.finditer(question):
        yield _written(match, _day(_date(int(match["year"]), int(match["month"]), int(match["day"]))))
    for match in DOTTED_DAY.finditer(question):
        year, day, month = int(match["year"]), int(match["day"]), int(match["month"])
        yield _written(match, _day(_date(year, month, day) or _date(year, day, month)))
    for match in SLASHED_DAY.finditer(question):
        year, one, other = int(match["year"]), int(match["first"]), int(match["second"])
        yield _Written(*match.span(), (_day(_date(year, other, one)), _day(_date(year, one, other))))
    for pattern, group in ((DAY_AFTER_MONTH, "until"), (DAY_BEFORE_MONTH, "since"), (CHINESE_DAY, "until")):
        for match in pattern.finditer(question):
            month = _MONTH_NAMES.get(match["month"].lower()) or _number(match["month"])
            time = _day(_past(match["year"], month, _number(match["day"]), today))
            if match[group] and (not AND.search(match[0]) or _begins_a_span(question, match.start())):
                second = _day(_past(match["year"], month, _number(match[group]), today))
                time = (_span(time, second) if group == "until" else _span(second, time)) or time
            yield _written(match, time)


def _without_overlaps(written: Sequence[_Written]) -> list[_Written]:
    """Return what does not begin within the one before: "March 3 April 5" has no third of April."""
    kept: list[_Written] = []
    for day in written:
        if not kept or day.start >= kept[-1].end:
            kept.append(day)
    return kept


def _written(match: re.Match[str], time: NamedTime | None) -> _Written:
    return _Written(*match.span(), (time, time))


def _days_and_spans(question: str, written: Sequence[_Written], today: dt.date) -> Iterator[NamedTime]:
    """Yield the days, and for two of which one is the end of a time the span from one to the other."""
    ends: set[int] = set()
    for one, other in pairwise(written):
        if one.start not in ends and _is_span(question, one, other):
            ends.add(other.start)
            readings = zip(one.readings, other.readings, strict=True)
            spans = [_span(first, last) for first, last in readings]
            yield from (span for span in dict.fromkeys(spans) if span)
        elif one.start not in ends:
            yield from (time for time in dict.fromkeys(one.readings) if time)
    if written and written[-1].start not in ends:
        yield from (time for time in dict.fromkeys(written[-1].readings) if time)


def _is_span(question: str, one: _Written, other: _Written) -> bool:
    gap = question[one.end : min(other.start, one.end + MOST_GAP)]
    if one.end + len(gap) != other.start:
        return False
    return bool(UP_TO.fullmatch(gap) or (AND.fullmatch(gap) and _begins_a_span(question, one.start)))


def _begins_a_span(question: str, start: int) -> bool:
    """Tell whether what begins at *start* comes after a word such as "between"."""
    return BETWEEN.search(question, max(start - MOST_GAP, 0), start) is not None


def _span(first: NamedTime | None, last: NamedTime | None) -> NamedTime | None:
    """Return the time from one to the other. A first day without a year was read as the newest: it is before the last.

    "Between March 3 and March 9, 2024" names the year once, for both.
    """
    if first is None or last is None:
        return None
    begins: dt.date | None = first.first
    if first.first > last.first:
        years = (last.first.year, last.first.year - 1)
        begins = next((day for year in years if (day := _same_day(first.first, year)) and day <= last.first), None)
    return NamedTime(begins, last.last, SPANS_FADE) if begins else None


def _same_day(day: dt.date, year: int) -> dt.date | None:
    return _date(year, day.month, day.day)


def _weekdays(question: str, written: Sequence[_Written], today: dt.date) -> Iterator[NamedTime]:
    """Yield the last of each weekday, but for one that only stands beside a date."""
    for match in WEEKDAY.finditer(question):
        if not _stands_beside(question, match, written):
            yield from _back(today, (today.weekday() - WEEKDAYS[match["name"].lower()]) % 7 or 7)
    for match in CHINESE_WEEKDAY.finditer(question):
        if not _stands_beside(question, match, written):
            weekday = CHINESE_WEEKDAYS[match["short"] or match["name"]]
            this_week = today.weekday() - weekday
            yield from _back(today, this_week + 7 if match["last"] else this_week % 7 or 7)


def _stands_beside(question: str, match: re.Match[str], written: Sequence[_Written]) -> bool:
    """Tell whether a date comes just before or after the *match*."""
    place = bisect_right(written, match.start(), key=lambda day: day.start)
    gaps = [(day.end, match.start()) for day in written[max(place - 1, 0) : place]]
    gaps += [(match.end(), day.start) for day in written[place : place + 1]]
    return any(0 <= stop - start <= MOST_GAP and BESIDE.fullmatch(question, start, stop) for start, stop in gaps)


def _days_back(question: str, today: dt.date) -> Iterator[NamedTime]:
    is_about_the_past = ABOUT_THE_PAST.search(question) is not None
    for match in BACK.finditer(question):
        days = DAYS_BACK[plain(match[0])]
        if days or is_about_the_past:
            yield from _back(today, days)


def _ago(question: str, today: dt.date) -> Iterator[NamedTime]:
    for pattern in AGO:
        for match in pattern.finditer(question):
            written, unit = plain(match["count"]), UNITS[match["unit"].lower()]
            count = VAGUE_NUMBERS.get(written) or NUMBERS.get(written) or int(written)
            slack = (VAGUE_SLACK_OF if written in VAGUE_NUMBERS else SLACK_OF)[unit]
            for time in _back(today, count * DAYS_OF[unit]):
                first, last = _days_before(time.first, slack), time.first + dt.timedelta(days=slack)
                if first:
                    yield NamedTime(first, last, SPANS_FADE if slack else DAYS_FADE)


def _last_spans(question: str, today: dt.date) -> Iterator[NamedTime]:
    """Yield the last week, from Monday to Sunday, weekend, month and year, where the question names them."""
    monday = today - dt.timedelta(days=today.weekday())
    for match in LAST.finditer(question):
        unit = LAST_SPANS[plain(match[0])]
        if unit == "week":
            yield NamedTime(monday - dt.timedelta(days=7), monday - dt.timedelta(days=1), SPANS_FADE)
        elif unit == "weekend":
            yield NamedTime(monday - dt.timedelta(days=2), monday - dt.timedelta(days=1), DAYS_FADE)
        elif unit == "month":
            end = today.replace(day=1) - dt.timedelta(days=1)
            yield NamedTime(end.replace(day=1), end, SPANS_FADE)
        else:
            yield NamedTime(dt.date(today.year - 1, 1, 1), dt.date(today.year - 1, 12, 31), SPANS_FADE)


def _whole_months(question: str, today: dt.date) -> Iterator[NamedTime]:
    for pattern in WHOLE_MONTHS:
        for match in pattern.finditer(question):
            month = MONTHS.get(match["month"].lower()) or _short_month(match) or _number(match["month"])
            first = _past(match["year"], month, 1, today) if month else None
            if first:
                last = first.replace(day=calendar.monthrange(first.year, first.month)[1])
                yield NamedTime(first, last, SPANS_FADE)


def _short_month(match: re.Match[str]) -> int | None:
    """Return the month of a short name; "of Jan" and "this Jan" speak of a person."""
    before = match.groupdict().get("before") or ""
    return None if before.lower() in ("of", "this") else SHORT_MONTHS.get(match["month"].lower())


def _number(written: str) -> int:
    return int(written) if written.isdecimal() else NUMBERS.get(written, 0)


def _past(year: str | None, month: int, day: int, today: dt.date) -> dt.date | None:
    """Return the day; without a year the last one that is not after *today*."""
    if year:
        return _date(today.year - 1 if year == "去" else int(year), month, day)
    found = _date(today.year, month, day)
    return _date(today.year - 1, month, day) if found is None or found > today else found


def _date(year: int, month: int, day: int) -> dt.date | None:
    try:
        return dt.date(year, month, day)
    except ValueError:
        return None


def _day(day: dt.date | None) -> NamedTime | None:
    return NamedTime(day, day, DAYS_FADE) if day else None


def _back(today: dt.date, days: int) -> Iterator[NamedTime]:
    time = _day(_days_before(today, days))
    if time:
        yield time


def _days_before(day: dt.date, days: int) -> dt.date | None:
    return day - dt.timedelta(days=days) if day.toordinal() > days else None
