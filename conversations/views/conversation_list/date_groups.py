"""The list of conversations under dates: Today, Yesterday, Previous 7 days, then months."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from django.utils import formats, timezone
from django.utils.translation import gettext

from conversations.models import Conversation
from conversations.selectors.conversations.conversation_list import ActiveConversation, ListedConversation

WEEK_DAYS = 7
Listed = Conversation | ListedConversation | ActiveConversation


@dataclass(frozen=True, slots=True)
class Group:
    """Conversations of one span of time, which begins at *since*. The *heading* is empty where it was shown already."""

    heading: str
    conversations: list[Listed]
    since: dt.datetime
    # What a `KindGroup` has: a template that asks for what is not there takes ten times as long.
    kind: ClassVar[str] = ""
    folder: ClassVar[None] = None
    before: ClassVar[None] = None


def group_by_date(
    conversations: Iterable[Listed], *, zone: dt.tzinfo, shown_until: dt.datetime | None = None
) -> list[Group]:
    """Group *conversations*, newest first; the page above this one ended at *shown_until*.

    The first page begins with a group of today, also where it is empty: what goes on comes to it.
    """
    today = timezone.now().astimezone(zone).date()

    def first_day_at(moment: dt.datetime) -> dt.date:
        return first_day_of(moment.astimezone(zone).date(), today=today)

    days: dict[dt.date, list[Listed]] = {} if shown_until else {today: []}
    for conversation in conversations:
        days.setdefault(first_day_at(conversation.last_active_at), []).append(conversation)
    shown = first_day_at(shown_until) if shown_until else None
    return [
        Group(
            "" if day == shown else heading_of(day, today=today),
            listed,
            dt.datetime.combine(day, dt.time.min, tzinfo=zone),
        )
        for day, listed in days.items()
    ]


def first_day_of(day: dt.date, *, today: dt.date) -> dt.date:
    """Return the first day of the span that *day* belongs to."""
    days_ago = (today - day).days
    if days_ago <= 1:
        return min(day, today)
    return today - dt.timedelta(days=WEEK_DAYS) if days_ago <= WEEK_DAYS else day.replace(day=1)


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
