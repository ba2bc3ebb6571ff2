"""The reader's time zone: what a page has written into the cookie `tz`, UTC until then."""

from __future__ import annotations

import datetime as dt
import zoneinfo
from collections.abc import Mapping

from django.http import HttpRequest
from django.utils import timezone
from django.utils.deprecation import MiddlewareMixin

from chatsite.accounts.models import User


class ReaderTimeZoneMiddleware(MiddlewareMixin):
    """Activates the reader's time zone for pages and forms; the database stores UTC all the same."""

    def process_request(self, request: HttpRequest) -> None:
        timezone.activate(reader_time_zone(request.COOKIES))


def reader_time_zone(cookies: Mapping[str, str]) -> dt.tzinfo:
    try:
        return zoneinfo.ZoneInfo(cookies.get("tz", "").replace("%2F", "/"))
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return dt.UTC


def remember_time_zone(user: User, cookies: Mapping[str, str]) -> None:
    """Store the user's time zone for what happens while they look at no page, such as telling the time in a reply."""
    zone = reader_time_zone(cookies)
    if isinstance(zone, zoneinfo.ZoneInfo) and zone.key != user.time_zone:
        User.objects.filter(pk=user.pk).update(time_zone=zone.key)


def stored_time_zone(user: User) -> dt.tzinfo:
    """Return the time zone that the user's pages told last, UTC before that."""
    return zoneinfo.ZoneInfo(user.time_zone) if user.time_zone else dt.UTC


def time_of_day(moment: dt.datetime, zone: dt.tzinfo) -> str:
    """Return hour and minute, rounded up to the next full minute: what opens at *moment* is open by then.

    “UTC” is added if *zone* is UTC.
    """
    return f"{next_minute(moment).astimezone(zone):%H:%M}" + (" UTC" if zone is dt.UTC else "")


def next_minute(moment: dt.datetime) -> dt.datetime:
    """Return the first full minute at or after *moment*."""
    minute = moment.replace(second=0, microsecond=0)
    return minute if minute == moment else minute + dt.timedelta(minutes=1)
