"""The sentences of errors in the language, and the time, of whoever reads them.

Pages are rendered in it already; what a socket sends has no page around it, so it is told whose it is.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext, ngettext, override

from chatsite.accounts.models import User
from chatsite.accounts.preferences.reader_language import reader_language
from chatsite.accounts.preferences.reader_time_zone import reader_time_zone, time_of_day
from conversations.core.errors import ConversationError
from conversations.core.errors.stored_errors import sentence_for


@dataclass(frozen=True, slots=True)
class Reader:
    """Whoever reads a page: in which language, and by which clock."""

    language_code: str
    zone: dt.tzinfo = dt.UTC

    @contextmanager
    def at_hand(self) -> Iterator[None]:
        """Render in the reader's language and by their clock."""
        with override(self.language_code), timezone.override(self.zone):
            yield

    def tell(self, moment: dt.datetime) -> str:
        """Return the moment by the reader's clock; of UTC it is said that it is."""
        with override(self.language_code):
            written = moment.astimezone(self.zone).strftime(gettext("%Y-%m-%d %H:%M"))
        return f"{written} UTC" if self.zone is dt.UTC else written

    def tell_time(self, moment: dt.datetime) -> str:
        """Return only the time of day: of a moment that is less than a day away."""
        return time_of_day(moment, self.zone)


def sentence_of(error: ConversationError, reader: Reader) -> str:
    """Return what the person reads."""
    return stored_sentence(error.code, error.params, reader)


def stored_sentence(code: str, params: Mapping[str, object], reader: Reader) -> str:
    """Return the sentence of an error of which only *code* and *params* are stored; nothing where there is no code."""
    if not code:
        return ""
    with override(reader.language_code):
        return sentence_for(code, params, translate=gettext, translate_plural=ngettext, tell=reader.tell)


def reader_of(request: HttpRequest) -> Reader:
    return Reader(reader_language(request), reader_time_zone(request.COOKIES))


def reader_of_socket(scope: Mapping[str, Any], user: User) -> Reader:
    """Return who reads a socket's page: found in its handshake as in every other request."""
    handshake = HttpRequest()
    handshake.user = user
    handshake.COOKIES = scope["cookies"]
    handshake.META["HTTP_ACCEPT_LANGUAGE"] = dict(scope["headers"]).get(b"accept-language", b"").decode("latin-1")
    return reader_of(handshake)
