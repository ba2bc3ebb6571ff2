"""Moments of exports: seconds or milliseconds since 1970, or ISO 8601. What can't be true is None."""

from __future__ import annotations

import datetime as dt

FIRST, LAST = dt.datetime(1990, 1, 1, tzinfo=dt.UTC), dt.datetime(2200, 1, 1, tzinfo=dt.UTC)
FIRST_MILLISECONDS = 10_000_000_000  # as seconds that is the year 2286


def read_moment(value: object) -> dt.datetime | None:
    """Return the moment that *value* names, in UTC; None for the year 0, for 9999 and for what is no moment."""
    try:
        moment = _parse(value)
    except (ValueError, OverflowError, OSError):
        return None
    return moment if moment and FIRST <= moment < LAST else None


def _parse(value: object) -> dt.datetime | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        seconds = value / 1_000 if abs(value) >= FIRST_MILLISECONDS else value
        return dt.datetime.fromtimestamp(seconds, dt.UTC)
    if not isinstance(value, str) or not value:
        return None
    moment = dt.datetime.fromisoformat(value)
    return moment.astimezone(dt.UTC) if moment.tzinfo else moment.replace(tzinfo=dt.UTC)


def seconds_between(began: object, ended: object) -> float | None:
    """Return the seconds from one moment to another, None where they are not known or not in order."""
    first, last = read_moment(began), read_moment(ended)
    if first is None or last is None or last < first:
        return None
    return (last - first).total_seconds()
