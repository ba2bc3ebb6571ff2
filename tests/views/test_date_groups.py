from __future__ import annotations

import datetime as dt
import zoneinfo

import pytest
from django.utils import timezone

from conversations.models import Conversation
from conversations.views.conversation_list.date_groups import group_by_date, heading_of

TODAY = dt.date(2026, 11, 21)


@pytest.mark.parametrize(
    ("day", "heading"),
    [
        (TODAY + dt.timedelta(days=1), "Today"),
        (TODAY, "Today"),
        (TODAY - dt.timedelta(days=1), "Yesterday"),
        (TODAY - dt.timedelta(days=2), "Previous 7 days"),
        (TODAY - dt.timedelta(days=7), "Previous 7 days"),
        (TODAY - dt.timedelta(days=8), "November 2026"),
        (dt.date(2025, 12, 31), "December 2025"),
    ],
)
def test_each_day_belongs_under_its_heading(day, heading):
    assert heading_of(day, today=TODAY) == heading


def at(moment):
    return Conversation(last_active_at=moment)


def test_a_heading_that_was_shown_already_is_not_repeated():
    now = timezone.now()
    [group] = group_by_date([at(now)], zone=dt.UTC, shown_until=now)
    assert group.heading == ""


def test_the_viewers_midnight_parts_the_days():
    tokyo = zoneinfo.ZoneInfo("Asia/Tokyo")
    midnight = timezone.now().astimezone(tokyo).replace(hour=0, minute=0, second=0, microsecond=0)
    groups = group_by_date([at(midnight), at(midnight - dt.timedelta(seconds=1))], zone=tokyo)
    assert [group.heading for group in groups] == ["Today", "Yesterday"]
