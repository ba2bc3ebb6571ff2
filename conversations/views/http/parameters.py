"""Request parameters parsed into typed values. A malformed one is refused."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any

from django.http import HttpRequest
from django.utils.dateparse import parse_datetime

from chatsite.accounts.preferences.reader_time_zone import reader_time_zone
from conversations.core.errors import FrameError
from conversations.core.text.shown_hits import ShownHits, read_shown
from conversations.selectors.conversations.list_pages import BETWEEN, PageEnd

LARGEST_POSITION = 2**31 - 1  # what the column holds
FIRST_YEAR, LAST_YEAR = 1970, 9998
MOST_CHARACTERS_OF_A_NAME = 200
MOST_DIGITS = 18  # of an id, a version or a length
MOST_PICTURES = 1_000  # whatever the limits of the site are


def position(request: HttpRequest, name: str) -> int | None:
    """Return the message position in the query, or None if it is not there."""
    value = request.GET.get(name)
    if value is None:
        return None
    if not (value.isascii() and value.isdigit() and len(value) <= 10 and int(value) <= LARGEST_POSITION):
        raise FrameError(name)
    return int(value)


def message_id(request: HttpRequest) -> int | None:
    """Return the id of the message in the query, or None if none is named."""
    value = request.GET.get("message")
    if value is None:
        return None
    return _whole_number(value, "message")


def day(request: HttpRequest, name: str) -> dt.date | None:
    """Return the day in the query, or None if it is not there."""
    value = request.GET.get(name)
    if value is None:
        return None
    try:
        day = dt.date.fromisoformat(value)
    except ValueError:
        raise FrameError(name) from None
    if not FIRST_YEAR < day.year <= LAST_YEAR:  # at the ends of time another zone may have no such day
        raise FrameError(name)
    return day


def page_end(request: HttpRequest) -> PageEnd | None:
    """Return the end of the page after which the query asks for the next one, or None if it asks for the first."""
    value = request.GET.get("before")
    if value is None:
        return None
    written, _, public_id = value.partition(BETWEEN)
    return PageEnd(_moment(written, "before"), unique_id(public_id, "before"))


def _moment(value: str, name: str) -> dt.datetime:
    """Return the aware moment, in UTC."""
    try:
        parsed = parse_datetime(value)
        if parsed is None or parsed.tzinfo is None:
            raise FrameError(name)
        moment = parsed.astimezone(dt.UTC)
    except (ValueError, OverflowError):  # no moment, or one that is none in UTC
        raise FrameError(name) from None
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:  # at the ends of time another zone may have no such moment
        raise FrameError(name)
    return moment


def unique_id(value: str | None, name: str) -> uuid.UUID:
    try:
        return uuid.UUID(value or "")
    except ValueError:
        raise FrameError(name) from None


def _whole_number(value: str, name: str) -> int:
    """Return the number that *value*, the parameter of that *name*, is written as: ASCII digits alone, not too many."""
    if not (value.isascii() and value.isdigit() and len(value) <= MOST_DIGITS):
        raise FrameError(name)
    return int(value)


def scenario_id(request: HttpRequest) -> int | None:
    """Return the id of the scenario in the query or the form, or None if none was chosen."""
    value = request.GET.get("scenario") or request.POST.get("scenario")
    if not value:
        return None
    return _whole_number(value, "scenario")


def folder_id(request: HttpRequest, name: str = "folder") -> int | None:
    """Return the id of the folder in the query or the form, or None if none is named."""
    value = request.GET.get(name) or request.POST.get(name)
    if not value:
        return None
    return _whole_number(value, name)


def listed_count(request: HttpRequest) -> int:
    """Return how many conversations the page asks for under dates, in the query or the form; 0 if it is not there."""
    value = request.GET.get("listed") or request.POST.get("listed") or "0"
    return _whole_number(value, "listed")


def version(request: HttpRequest) -> int:
    """Return the number of the version in the form."""
    value = request.POST.get("version", "")
    return _whole_number(value, "version")


def length(request: HttpRequest) -> int:
    """Return how many code points of a reply the page of the form shows."""
    value = request.POST.get("length", "")
    return _whole_number(value, "length")


def content(request: HttpRequest) -> str:
    """Return the message as it was typed: a plain form sends two characters for the end of a line."""
    return request.POST.get("content", "").replace("\r\n", "\n")


def picture_ids(request: HttpRequest) -> list[int]:
    """Return the ids of pictures in the form, separated by commas, in their order."""
    values = [value for value in ",".join(request.POST.getlist("pictures")).split(",") if value]
    if len(values) > MOST_PICTURES:
        raise FrameError("pictures")
    return [_whole_number(value, "pictures") for value in values]


def chosen_picture_ids(request: HttpRequest) -> list[int] | None:
    """Return the same; None where the form does not ask which ones."""
    return picture_ids(request) if "choose_pictures" in request.POST else None


def beginning(request: HttpRequest) -> dict[str, Any]:
    """Return what the form says of the conversation that it may begin, for `start_conversation`."""
    return {
        "scenario_id": scenario_id(request),
        "language_model": name(request, "language_model"),
        "effort": name(request, "effort"),
        "searches_web": is_switched_on(request, "searches_web"),
        "temporary": is_switched_on(request, "temporary"),
        "folder_id": folder_id(request),
    }


def name(request: HttpRequest, parameter: str) -> str:
    """Return a name in the query or the form, such as that of a language model; empty if there is none."""
    value = request.GET.get(parameter) or request.POST.get(parameter) or ""
    if len(value) > MOST_CHARACTERS_OF_A_NAME or not value.isprintable():
        raise FrameError(parameter)
    return value


def shown_hits(request: HttpRequest) -> ShownHits:
    """Return the hits that pages before have shown, none if the query names none."""
    value = request.GET.get("shown")
    if value is None:
        return ShownHits()
    try:
        return read_shown(value)
    except ValueError:
        raise FrameError("shown") from None


def shared_text(request: HttpRequest) -> str:
    """Return what another app shares with the installed site: a title, a text and an address, each if it is there."""
    parts = (request.GET.get(f"shared_{part}", "").strip() for part in ("title", "text", "url"))
    return "\n".join(dict.fromkeys(part for part in parts if part))


def flag(request: HttpRequest, name: str) -> bool:
    """Return what the form asks for: `true` or `false`."""
    value = request.POST.get(name)
    if value not in ("true", "false"):
        raise FrameError(name)
    return value == "true"


def is_switched_on(request: HttpRequest, name: str) -> bool:
    """Return what the form asks for, as `flag` does; false where it says nothing, as a box that is not ticked."""
    return name in request.POST and flag(request, name)


def is_yes(request: HttpRequest, name: str) -> bool:
    """Return what the user answers by the form: `yes` or `no`. Anything else is no answer."""
    value = request.POST.get(name)
    if value not in ("yes", "no"):
        raise FrameError(name)
    return value == "yes"


def time_zone(request: HttpRequest) -> dt.tzinfo:
    return reader_time_zone(request.COOKIES)


def optional_unique_id(request: HttpRequest, name: str) -> uuid.UUID | None:
    """Return the id in the query or the form, or None if it is not there."""
    value = request.GET.get(name) or request.POST.get(name)
    return unique_id(value, name) if value else None
