"""What a question says of the message that it asks for: who said it, and on which day or in which month."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial

from conversations.core.text.unspaced_scripts import UNSPACED

DAYS_FADE = 3.0  # a day away counts e^(-1/3)
SPANS_FADE = 10.0  # outside of a week or month that is named
DAYS_OF = {"day": 1, "week": 7, "month": 30, "year": 365}
SLACK_OF = {"day": 0, "week": 2, "month": 10, "year": 60}  # days: so many weeks ago is no day
NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7}
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
ROLES = ("", "user", "assistant")
MOST_DATES = 4
MOST_CHARACTERS = 4_000  # of a question

YOU_SAID = re.compile(
    r"\b(?:you|your)\b(?:\s+\w+){0,2}?\s+(?:said|suggest\w*|told|mention\w*|gave|recommend\w*|list\w*|propos\w*"
    r"|explain\w*|draft\w*|advis\w*|wrote|advice|tips?|ideas?|answers?)\b|你(?:说|建议|提到|推荐)",
    re.IGNORECASE,
)
MONTH_NAMES = {
    "january": 1, "february": 2, "march": 3, "april": 4, "may": 5, "june": 6, "july": 7, "august": 8,
    "september": 9, "october": 10, "november": 11, "december": 12,
    "januar": 1, "februar": 2, "märz": 3, "mai": 5, "juni": 6, "juli": 7, "oktober": 10, "dezember": 12,
}  # fmt: skip
MONTH = "|".join(MONTH_NAMES)
ISO_DAY = re.compile(r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b|(\d{4})年(\d{1,2})月(\d{1,2})[日号]")
DAY_OF_MONTH = re.compile(
    rf"\b(?:(?P<month>{MONTH})\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\s*\d*:)"
    rf"|(?P<day2>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?(?P<month2>{MONTH})\b)(?:,?\s+(?P<year>\d{{4}}))?",
    re.IGNORECASE,
)
# "may" and "march" are words, too: a month alone needs a capital, and something before it.
WHOLE_MONTH = re.compile(
    r"\b(?:in|of|during|since|last|this|im|seit)\s+(?P<month>(?-i:[A-ZÄ])(?:\w+))(?:,?\s+(?P<year>\d{4}))?",
    re.IGNORECASE,
)
AGO = re.compile(rf"\b(\d{{1,3}}|{'|'.join(NUMBERS)}) (day|week|month|year)s? ago\b", re.IGNORECASE)
WEEKDAY = re.compile(rf"\b(?:last|on|past) ({'|'.join(WEEKDAYS)})\b", re.IGNORECASE)
LAST = re.compile(r"\blast (week|month)\b", re.IGNORECASE)
DAY_BEFORE_YESTERDAY = re.compile(r"\bday before yesterday\b|\bvorgestern\b|前天", re.IGNORECASE)
YESTERDAY = re.compile(r"\b(?:yesterday|last night|gestern)\b|昨天", re.IGNORECASE)


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
class Hints:
    """*speaker* is a role or the name of one, where the question names exactly one; *times* are the named ones."""

    speaker: str | None
    times: tuple[NamedTime, ...]

    def nearness(self, day: dt.date) -> float:
        return max((time.nearness(day) for time in self.times), default=0.0)

    def names(self, role: str, name: str | None) -> bool:
        """Tell whether the speaker of a message is the one that is named."""
        return self.speaker is not None and self.speaker == (name or role)


def read_hints(question: str, *, today: dt.date, names: Collection[str] = ()) -> Hints:
    """Return what *question* says of the message that it asks for; *names* are those of the speakers so far."""
    beginning = question[:MOST_CHARACTERS]
    return Hints(_speaker(beginning, names), tuple(_times(beginning, today))[:MOST_DATES])


def _speaker(question: str, names: Collection[str]) -> str | None:
    named = [name for name in names if name.lower() not in ROLES and _is_word_of(name, question)]
    if len(named) == 1:
        return named[0]
    return "assistant" if not named and YOU_SAID.search(question) else None


def _is_word_of(name: str, question: str) -> bool:
    """Tell whether a person's name, or their first name, stands in *question*."""
    first = name.split()[0]
    edge = "" if re.match(rf"[{UNSPACED}]", first) else r"\b"
    return re.search(f"{edge}{re.escape(first)}{edge}", question, re.IGNORECASE) is not None


def _times(question: str, today: dt.date) -> list[NamedTime]:
    days = [_date(*(int(part) for part in match.groups() if part)) for match in ISO_DAY.finditer(question)]
    for match in DAY_OF_MONTH.finditer(question):
        month = MONTH_NAMES[(match["month"] or match["month2"]).lower()]
        days.append(_past(match["year"], month, int(match["day"] or match["day2"]), today))
    for match in WEEKDAY.finditer(question):
        days.append(_days_before(today, (today.weekday() - WEEKDAYS.index(match[1].lower())) % 7 or 7))
    if DAY_BEFORE_YESTERDAY.search(question):
        days.append(_days_before(today, 2))
    elif YESTERDAY.search(question):
        days.append(_days_before(today, 1))
    named = [NamedTime(day, day, DAYS_FADE) for day in days if day]
    spans = [*map(partial(_ago, today=today), AGO.finditer(question)), *_last_spans(question, today)]
    named += [span for span in spans if span]
    return named or [span for match in WHOLE_MONTH.finditer(question) if (span := _month(match, today))]


def _ago(match: re.Match[str], *, today: dt.date) -> NamedTime | None:
    count, unit = NUMBERS.get(match[1].lower()) or int(match[1]), match[2].lower()
    day, slack = _days_before(today, count * DAYS_OF[unit]), dt.timedelta(days=SLACK_OF[unit])
    if day is None or day.year < 2:
        return None
    return NamedTime(day - slack, day + slack, SPANS_FADE if slack else DAYS_FADE)


def _last_spans(question: str, today: dt.date) -> Iterator[NamedTime]:
    """Yield the last week, from Monday to Sunday, and the last month, where the question names them."""
    for match in LAST.finditer(question):
        if match[1].lower() == "week":
            monday = today - dt.timedelta(days=today.weekday() + 7)
            yield NamedTime(monday, monday + dt.timedelta(days=6), SPANS_FADE)
        else:
            end = today.replace(day=1) - dt.timedelta(days=1)
            yield NamedTime(end.replace(day=1), end, SPANS_FADE)


def _month(match: re.Match[str], today: dt.date) -> NamedTime | None:
    month = MONTH_NAMES.get(match["month"].lower())
    first = _past(match["year"], month, 1, today) if month else None
    if first is None:
        return None
    last = (first.replace(day=28) + dt.timedelta(days=4)).replace(day=1) - dt.timedelta(days=1)
    return NamedTime(first, last, SPANS_FADE)


def _past(year: str | None, month: int, day: int, today: dt.date) -> dt.date | None:
    """Return the day; without a year the last one that is not after *today*."""
    if year:
        return _date(int(year), month, day)
    found = _date(today.year, month, day)
    return _date(today.year - 1, month, day) if found is None or found > today else found


def _date(year: int, month: int, day: int) -> dt.date | None:
    try:
        return dt.date(year, month, day)
    except ValueError:
        return None


def _days_before(today: dt.date, days: int) -> dt.date | None:
    return today - dt.timedelta(days=days) if today.toordinal() > days else None
