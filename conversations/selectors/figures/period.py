"""The days that figures are read for, by the clock of the reader, and which closed days, weeks and months they have."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Literal, TypedDict

BEFORE_ALL = dt.datetime.min.replace(tzinfo=dt.UTC)


@dataclass(frozen=True, slots=True)
class Period:
    """All days from *first* to *last* as they are in *zone*, where a day may have 23, 24 or 25 hours, or none."""

    first: dt.date
    last: dt.date
    zone: dt.tzinfo

    @property
    def days(self) -> list[dt.date]:
        return [self.first + dt.timedelta(days=number) for number in range((self.last - self.first).days + 1)]

    @property
    def begin(self) -> dt.datetime:
        return self._midnight(self.first)

    @property
    def end(self) -> dt.datetime:
        """The first moment after the period."""
        return self._midnight(self.last + dt.timedelta(days=1))

    @property
    def midnights(self) -> list[dt.datetime]:
        """When each of its days begins, in UTC."""
        return [self._midnight(day) for day in self.days]

    def _midnight(self, day: dt.date) -> dt.datetime:
        """Return the first moment of *day*, also where the clock is put forward at midnight."""
        return dt.datetime.combine(day, dt.time(), self.zone).astimezone(dt.UTC)


class ClosedSpans(TypedDict):
    """When the first closed day and month of a period begin and the last ones end: the same where there are none.

    *long_begin* and *long_end* are those of weeks or of months, as *long_span* says: users have sums of both. All are
    those of UTC.
    """

    day_begin: dt.datetime
    day_end: dt.datetime
    month_begin: dt.datetime
    month_end: dt.datetime
    long_span: Literal["week", "month"]
    long_begin: dt.datetime
    long_end: dt.datetime


def closed_spans(period: Period, closed_until: dt.datetime, weeks_until: dt.datetime) -> ClosedSpans:
    """Return which days and months lie entirely within the period and are closed: their sums are rolled up.

    The long span is a month, or where the period has no closed month a week, of those that end by *weeks_until*.
    """
    closed = min(period.end, closed_until)
    day = min(_midnight_from(period.begin), period.end)
    month = min(_first_of_month_from(day), period.end)
    month_end = max(month, closed.replace(day=1, hour=0, minute=0, second=0, microsecond=0))
    has_month = month < month_end
    week = min(_monday_from(day), period.end)
    week_end = max(week, _monday_until(min(closed, weeks_until)))
    return {
        "day_begin": day,
        "day_end": max(day, closed.replace(hour=0, minute=0, second=0, microsecond=0)),
        "month_begin": month,
        "month_end": month_end,
        "long_span": "month" if has_month else "week",
        "long_begin": month if has_month else week,
        "long_end": month_end if has_month else week_end,
    }


def closed_parts(spans: ClosedSpans) -> list[tuple[str, dt.datetime]]:
    """Return span and begin of each closed part of the period: its months or weeks, and the days around them."""
    begin, end = spans["long_begin"], spans["long_end"]
    days = _days(spans["day_begin"], min(begin, spans["day_end"])) + _days(end, spans["day_end"])
    has_weeks = spans["long_span"] == "week"
    firsts = [day for day in _days(begin, end) if (day.weekday() == 0 if has_weeks else day.day == 1)]
    return [*(("day", day) for day in days), *((spans["long_span"], day) for day in firsts)]


def _days(begin: dt.datetime, end: dt.datetime) -> list[dt.datetime]:
    return [begin + dt.timedelta(days=number) for number in range((end - begin).days)]


def _midnight_from(moment: dt.datetime) -> dt.datetime:
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight if midnight == moment else midnight + dt.timedelta(days=1)


def _monday_from(midnight: dt.datetime) -> dt.datetime:
    return midnight + dt.timedelta(days=-midnight.weekday() % 7)


def _monday_until(moment: dt.datetime) -> dt.datetime:
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight - dt.timedelta(days=midnight.weekday())


def _first_of_month_from(moment: dt.datetime) -> dt.datetime:
    midnight = _midnight_from(moment)
    return midnight if midnight.day == 1 else (midnight.replace(day=28) + dt.timedelta(days=4)).replace(day=1)
