"""The days that a period is compared with."""

from __future__ import annotations

import datetime as dt

from conversations.selectors.figures.period import Period
from conversations.views.usage.period_form import ChosenPeriod

DAY = dt.timedelta(days=1)


def period_before(chosen: ChosenPeriod) -> Period:
    """Return as many days just before; of a month the month before, as far as this one has come."""
    period = chosen.period
    if chosen.name not in ("this-month", "last-month"):
        length = period.last - period.first + DAY
        return Period(period.first - length, period.last - length, period.zone)
    end = period.first - DAY
    is_over = chosen.name == "last-month"
    last = end if is_over else end.replace(day=min(period.last.day, end.day))
    return Period(end.replace(day=1), last, period.zone)
