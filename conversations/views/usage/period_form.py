"""The days that a page of figures shows: chosen by name or by first and last day in the query, in the viewer's zone.

Any query gives a period: days the wrong way round are swapped, days to come are left out, and of too many days the last
are taken. A notice says what could not be taken as it was asked for.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from conversations.selectors.figures.period import Period
from conversations.views.http import parameters

Days = tuple[dt.date, dt.date]
EARLIEST = dt.date(2000, 1, 1)  # there were no language models to ask before
MOST_DAYS = 366
USUAL = "30-days"


def _last_days(days: int) -> Callable[[dt.date], Days]:
    return lambda today: (today - dt.timedelta(days=days - 1), today)


def _this_month(today: dt.date) -> Days:
    return today.replace(day=1), today


def _last_month(today: dt.date) -> Days:
    last = today.replace(day=1) - dt.timedelta(days=1)
    return last.replace(day=1), last


# Name in the query → what it is called, and its days as of today.
NAMED: dict[str, tuple[Promise, Callable[[dt.date], Days]]] = {
    "today": (gettext_lazy("Today"), _last_days(1)),
    "yesterday": (gettext_lazy("Yesterday"), lambda today: (today - dt.timedelta(days=1),) * 2),
    "7-days": (gettext_lazy("7 days"), _last_days(7)),
    USUAL: (gettext_lazy("30 days"), _last_days(30)),
    "this-month": (gettext_lazy("This month"), _this_month),
    "last-month": (gettext_lazy("Last month"), _last_month),
    "12-months": (gettext_lazy("12 months"), _last_days(365)),
}


@dataclass(frozen=True, slots=True)
class PeriodChoice:
    """A period with a name, as a link: *query* is what to put into the address."""

    label: Promise
    query: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class ChosenPeriod:
    """The chosen days: *name* is blank for custom ones. *notice* says what was not taken as it was asked for."""

    period: Period
    name: str
    notice: str = ""

    @property
    def fields(self) -> dict[str, str]:
        """Return what chooses the same again: for forms, and for the addresses of exports."""
        if self.name:
            return {"period": self.name}
        return {"from": self.period.first.isoformat(), "to": self.period.last.isoformat()}

    @property
    def query(self) -> str:
        return urlencode(self.fields)

    @property
    def choices(self) -> list[PeriodChoice]:
        return [
            PeriodChoice(label, urlencode({"period": name}), name == self.name) for name, (label, _) in NAMED.items()
        ]


def read_period(request: HttpRequest) -> ChosenPeriod:
    """Return the period that the query asks for, in the viewer's zone."""
    zone = parameters.time_zone(request)
    return choose_period(request.GET, today=timezone.now().astimezone(zone).date(), zone=zone)


def choose_period(query: Mapping[str, str], *, today: dt.date, zone: dt.tzinfo) -> ChosenPeriod:
    """Return the period of `period`, a name, or of `from` and `to`, days as 2026-11-21; else the usual one."""
    if not (query.get("from") or query.get("to")):
        name = query.get("period", "")
        name = name if name in NAMED else USUAL
        return ChosenPeriod(Period(*NAMED[name][1](today), zone), name)
    try:
        first, last = _days_of(query, today)
    except ValueError:
        notice = gettext("These dates are not valid, so the last 30 days are shown.")
        return ChosenPeriod(Period(*NAMED[USUAL][1](today), zone), USUAL, notice)
    return _of_days(first, last, zone)


def _days_of(query: Mapping[str, str], today: dt.date) -> Days:
    """Return the days in the query, in order and none of them to come. Raises `ValueError`."""
    last = dt.date.fromisoformat(query.get("to") or today.isoformat())
    first = dt.date.fromisoformat(query["from"]) if query.get("from") else last
    first, last = sorted(max(EARLIEST, min(day, today)) for day in (first, last))
    return first, last


def _of_days(first: dt.date, last: dt.date, zone: dt.tzinfo) -> ChosenPeriod:
    earliest = last - dt.timedelta(days=MOST_DAYS - 1)
    if first >= earliest:
        return ChosenPeriod(Period(first, last, zone), "")
    notice = gettext("At most %(days)s days can be shown at once. These are the last of them.") % {"days": MOST_DAYS}
    return ChosenPeriod(Period(earliest, last, zone), "", notice)
