"""The clock of whoever looks at a page: their time zone as a page has told it by cookie, UTC until then."""

from __future__ import annotations

import datetime as dt
import zoneinfo
from collections.abc import Mapping

from chatsite.accounts.models import User


def zone_of(cookies: Mapping[str, str]) -> dt.tzinfo:
    try:
        return zoneinfo.ZoneInfo(cookies.get("tz", "").replace("%2F", "/"))
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return dt.UTC


def remember_zone(user: User, cookies: Mapping[str, str]) -> None:
    """Keep the person's time zone for what is done while they look at no page, such as telling the time in a reply."""
    zone = zone_of(cookies)
    if isinstance(zone, zoneinfo.ZoneInfo) and zone.key != user.time_zone:
        User.objects.filter(pk=user.pk).update(time_zone=zone.key)


def time_of_day(moment: dt.datetime, zone: dt.tzinfo) -> str:
    """Return hour and minute; of UTC it is said that it is."""
    return f"{moment.astimezone(zone):%H:%M}" + (" UTC" if zone is dt.UTC else "")
