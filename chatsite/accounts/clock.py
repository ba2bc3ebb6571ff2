"""The clock of whoever looks at a page: their time zone as a page has told it by cookie, UTC until then."""

from __future__ import annotations

import datetime as dt
import zoneinfo
from collections.abc import Mapping


def zone_of(cookies: Mapping[str, str]) -> dt.tzinfo:
    try:
        return zoneinfo.ZoneInfo(cookies.get("tz", "").replace("%2F", "/"))
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return dt.UTC


def time_of_day(moment: dt.datetime, zone: dt.tzinfo) -> str:
    """Return hour and minute; of UTC it is said that it is."""
    return f"{moment.astimezone(zone):%H:%M}" + (" UTC" if zone is dt.UTC else "")
