"""Which days and months of a period are rolled up: those that lie within it altogether, and are closed."""

from __future__ import annotations

import datetime as dt

from .period import Period

BEFORE_ALL = dt.datetime.min.replace(tzinfo=dt.UTC)


def whole_spans(period: Period, closed_until: dt.datetime) -> dict[str, dt.datetime]:
    """Return when the first of them begins and the last of them ends; both are the same where there are none."""
    closed = min(period.end, closed_until)
    day = min(_midnight_from(period.begin), period.end)
    month = min(_first_of_month_from(day), period.end)
    return {
        "day_begin": day,
        "day_end": max(day, closed.replace(hour=0, minute=0, second=0, microsecond=0)),
        "month_begin": month,
        "month_end": max(month, closed.replace(day=1, hour=0, minute=0, second=0, microsecond=0)),
    }


def _midnight_from(moment: dt.datetime) -> dt.datetime:
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight if midnight == moment else midnight + dt.timedelta(days=1)


def _first_of_month_from(moment: dt.datetime) -> dt.datetime:
    midnight = _midnight_from(moment)
    return midnight if midnight.day == 1 else (midnight.replace(day=28) + dt.timedelta(days=4)).replace(day=1)
