"""The tool `current_time`: date and time in a time zone."""

from __future__ import annotations

import datetime as dt
from zoneinfo import ZoneInfo

from conversations.core.errors import ArgumentsInvalid
from conversations.tools.registry import tool
from conversations.tools.tool import ToolContext


@tool
def current_time(context: ToolContext, zone: str = "") -> str:
    """Tell date, weekday and time of day now.

    Args:
        zone: IANA time zone, such as Asia/Tokyo; else the person's.
    """
    now = dt.datetime.now(find_zone(zone or context.time_zone))
    return f"{now:%A, %d %B %Y, %H:%M:%S} {now.tzinfo} ({now.isoformat(timespec='seconds')})"


def find_zone(name: str) -> dt.tzinfo:
    """Return the time zone of that name, UTC for a blank one. Raises `ArgumentsInvalid`."""
    try:
        return ZoneInfo(name or "UTC")
    except (LookupError, ValueError, OSError) as error:  # names may be of folders and of other files
        raise ArgumentsInvalid(detail="zone: an IANA name is needed, such as Europe/Berlin or UTC.") from error
