"""Sentences of errors in the language and time zone of their reader.

Pages are rendered in these already; what a socket sends has no page around it, so it is given its reader.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext, ngettext, override

from chatsite.accounts.models import User
from chatsite.accounts.preferences.reader_language import reader_language
from chatsite.accounts.preferences.reader_time_zone import next_minute, reader_time_zone, time_of_day
from chatsite.names import isolate_name
from conversations.core.errors import ConversationError
from conversations.core.errors.stored_errors import sentence_for


@dataclass(frozen=True, slots=True)
class ReaderLocale:
    """The language and the time zone in which a page is read."""

    language_code: str
    zone: dt.tzinfo = dt.UTC

    @contextmanager
    def activated(self) -> Iterator[None]:
        """Render in this language and time zone."""
        with override(self.language_code), timezone.override(self.zone):
            yield

    def tell(self, moment: dt.datetime) -> str:
        """Return the moment, rounded up to a full minute, by the reader's clock; without its date if that is today.

        UTC is named.
        """
        there = next_minute(moment).astimezone(self.zone)
        if there.date() == timezone.localdate(timezone=self.zone):
            return self.format_time(moment)
        with override(self.language_code):
            written = date_format(there, "DATETIME_FORMAT")
        return f"{written} UTC" if self.zone is dt.UTC else written

    def format_time(self, moment: dt.datetime) -> str:
        """Return only the time of day: of a moment that is less than a day away."""
        return time_of_day(moment, self.zone)


def error_sentence(error: ConversationError, reader: ReaderLocale) -> str:
    """Return what the reader is told."""
    return stored_error_sentence(error.code, error.params, reader)


def stored_error_sentence(code: str, params: Mapping[str, object], reader: ReaderLocale) -> str:
    """Return the sentence of an error of which only *code* and *params* are stored; nothing where there is no code."""
    if not code:
        return ""
    with override(reader.language_code):
        return sentence_for(
            code, params, translate=gettext, translate_plural=ngettext, tell=reader.tell, isolate=isolate_name
        )


def request_reader(request: HttpRequest) -> ReaderLocale:
    return ReaderLocale(reader_language(request), reader_time_zone(request.COOKIES))


def socket_reader(scope: Mapping[str, Any], user: User) -> ReaderLocale:
    """Return the reader of a socket's page, from its handshake as from any other request."""
    handshake = HttpRequest()
    handshake.user = user
    handshake.COOKIES = scope["cookies"]
    handshake.META["HTTP_ACCEPT_LANGUAGE"] = dict(scope["headers"]).get(b"accept-language", b"").decode("latin-1")
    return request_reader(handshake)
