"""`GET /v1/windowseat/usage`: usage and costs by day, conversation, language model, purpose or key.

They are those of the usage page.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, JsonResponse
from django.utils import timezone

from chatsite.accounts.preferences.reader_time_zone import stored_time_zone
from conversations.core.api.fields import JsonSchema, one_of, said
from conversations.core.api.item_ids import conversation_id
from conversations.core.errors import ParameterInvalid
from conversations.core.money.amounts import write_amount
from conversations.models import ApiKey, ApiScope
from conversations.selectors.figures.figures import Figures
from conversations.selectors.figures.own_usage import usage_by_conversation
from conversations.selectors.figures.period import Period
from conversations.selectors.figures.totals import Totals
from conversations.services.api.usage_of_key import read_usage, read_usage_by_key
from conversations.views.usage.period_form import EARLIEST, MOST_DAYS
from conversations.views.usage.usage_files import FIGURES_IN_FILES

from .api_view import api_view, read_query
from .turns import in_turn

GROUPS = one_of("day", "conversation", "language_model", "purpose", "api_key")
DAYS = 30
LATEST = dt.date(9998, 12, 31)
DAY: JsonSchema = {"type": "string", "format": "date"}
QUERY: Mapping[str, JsonSchema] = {
    "by": {**GROUPS.schema, "default": "day"},
    "from": said(DAY, f"The first day; {DAYS} days without it, and at most {MOST_DAYS}."),
    "to": said(DAY, "The last day; today without it."),
}


@api_view("GET", ApiScope.READ)
async def usage(request: HttpRequest, *, key: ApiKey) -> JsonResponse:
    return JsonResponse(await in_turn(key, _usage, key, read_query(request, *QUERY)))


def _usage(key: ApiKey, query: Mapping[str, str]) -> dict[str, Any]:
    by = GROUPS(query.get("by", "day"), "by")
    period = _period(query, stored_time_zone(key.owner))
    figures = read_usage(key, period)
    return {
        "object": "windowseat.usage",
        "from": period.first.isoformat(),
        "to": period.last.isoformat(),
        "time_zone": str(period.zone),
        "by": by,
        "data": _data(key, by, period, figures),
        "total": _figures(figures.total),
    }


def _data(key: ApiKey, by: str, period: Period, figures: Figures) -> list[dict[str, Any]]:
    if by == "api_key":
        return _rows_by_key(key, period)
    return _rows_by_conversation(key, figures) if by == "conversation" else _rows(by, figures)


def _rows_by_conversation(key: ApiKey, figures: Figures) -> list[dict[str, Any]]:
    """Return the conversations, the most expensive first; the last row is of all that is in none of them."""
    found = usage_by_conversation(key.owner, figures)
    rows = [
        {"conversation": conversation_id(each.public_id), "title": each.title, **_figures(each.totals)}
        for each in found.rows
    ]
    others = figures.total.without(each.totals for each in found.rows)
    return [*rows, {"conversation": None, "title": None, **_figures(others)}] if others.completions else rows


def _rows_by_key(key: ApiKey, period: Period) -> list[dict[str, Any]]:
    return [
        {"api_key": str(each.public_id) if each.public_id else None, "name": each.name, **_figures(each.totals)}
        for each in read_usage_by_key(key, period)
    ]


def _rows(by: str, figures: Figures) -> list[dict[str, Any]]:
    if by == "day":
        return [{"day": each.day.isoformat(), **_figures(each.totals)} for each in figures.by_day]
    table: Any = figures.by_language_model if by == "language_model" else figures.by_purpose
    return [{by: getattr(each, by), **_figures(each.totals)} for each in table.rows]


def _figures(totals: Totals) -> dict[str, Any]:
    """Return the columns of the page's files; amounts of money as text, to the last digit."""
    return {name: getattr(totals, name) for name in FIGURES_IN_FILES} | {"cost_usd": write_amount(totals.cost_usd)}


def _period(query: Mapping[str, str], zone: dt.tzinfo) -> Period:
    """Return the days *from* to *to*, the last 30 without them. Raises `ParameterInvalid`."""
    today = timezone.now().astimezone(zone).date()
    last = _day(query, "to", today)
    first = _day(query, "from", max(EARLIEST, last - dt.timedelta(days=DAYS - 1)))
    if first > last:
        raise ParameterInvalid("from", "it is after the last day")
    if (last - first).days >= MOST_DAYS:
        raise ParameterInvalid("from", f"more than {MOST_DAYS} days can't be read at once")
    return Period(first, last, zone)


def _day(query: Mapping[str, str], name: str, usual: dt.date) -> dt.date:
    if name not in query:
        return usual
    try:
        day = dt.date.fromisoformat(query[name])
    except ValueError:
        raise ParameterInvalid(name, "a day such as 2026-11-21 is needed") from None
    if not EARLIEST <= day <= LATEST:
        raise ParameterInvalid(name, "there are no figures of that day")
    return day
