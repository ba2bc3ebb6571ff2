"""What time it is, in any zone."""

from __future__ import annotations

import datetime as dt
import re

import pytest

from conversations.core.errors import ArgumentsInvalid
from conversations.tools.built_in.current_time import current_time
from conversations.tools.tool import ToolContext

NOWHERE = ToolContext(1, 2, 3)
IN_TOKYO = ToolContext(1, 2, 3, time_zone="Asia/Tokyo")


def told(context: ToolContext, *zone: str) -> dt.datetime:
    """Return the moment that was told, by the part that programs can read."""
    return dt.datetime.fromisoformat(re.search(r"\((.+)\)", current_time(context, *zone))[1])


@pytest.mark.parametrize(
    ("context", "zone", "offset_hours"),
    [(NOWHERE, (), 0), (IN_TOKYO, (), 9), (NOWHERE, ("Asia/Tokyo",), 9), (IN_TOKYO, ("UTC",), 0)],
)
def test_it_is_now_in_the_zone_that_is_asked_for_else_the_persons(context, zone, offset_hours):
    moment = told(context, *zone)
    assert moment.utcoffset() == dt.timedelta(hours=offset_hours)
    assert abs(moment - dt.datetime.now(dt.UTC)) < dt.timedelta(minutes=1)


def test_weekday_and_zone_are_said_in_words():
    words = current_time(NOWHERE, "Asia/Tokyo")
    assert re.fullmatch(r"\w+day, \d\d \w+ 20\d\d, \d\d:\d\d:\d\d Asia/Tokyo \(.+\+09:00\)", words)


@pytest.mark.parametrize(
    "zone", ["Middle/Earth", "Europe", "../../etc/passwd", "/etc/passwd", "\0", "a" * 5_000, "CET "]
)
def test_what_is_no_zone_is_refused(zone):
    with pytest.raises(ArgumentsInvalid) as raised:
        current_time(NOWHERE, zone)
    assert "IANA" in raised.value.detail
