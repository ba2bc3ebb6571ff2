"""The list of conversations under dates: Today, Yesterday, Previous 7 days, then months."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from django.utils import formats, timezone
from django.utils.translation import gettext

from conversations.models import Conversation

WEEK_DAYS = 7


@dataclass(frozen=True, slots=True)
class Group:
    """Conversations of one span of time. The *heading* is empty where it was shown already."""

    heading: str
    conversations: list[Conversation]


def group_by_date(
    conversations: Iterable[Conversation], *, zone: dt.tzinfo, shown_until: dt.datetime | None = None
) -> list[Group]:
    """Group *conversations*, newest first; the page above this one ended at *shown_until*."""
    today = timezone.now().astimezone(zone).date()

    def heading_at(moment: dt.datetime) -> str:
        return heading_of(moment.astimezone(zone).date(), today=today)

    shown = heading_at(shown_until) if shown_until else ""
    grouped = groupby(conversations, key=lambda conversation: heading_at(conversation.last_active_at))
    return [Group("" if heading == shown else heading, list(group)) for heading, group in grouped]


def heading_of(day: dt.date, *, today: dt.date) -> str:
    """Name the span that *day* belongs to. A day to come is one of another time zone, and is today."""
    days_ago = (today - day).days
    if days_ago <= 0:
        return gettext("Today")
    if days_ago == 1:
        return gettext("Yesterday")
    if days_ago <= WEEK_DAYS:
        return gettext("Previous 7 days")
    return formats.date_format(day, "YEAR_MONTH_FORMAT")
