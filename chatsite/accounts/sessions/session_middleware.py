"""Session middleware that also stores when and where a session was last seen."""

from __future__ import annotations

from typing import cast

from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponse

from chatsite.accounts.sessions.session_store import ClientInfo, SessionStore


class TrackedSessionMiddleware(SessionMiddleware):
    """Django's, which tells the session store the client of the request."""

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        _store(request).client = ClientInfo.from_meta(request.META)

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        response = super().process_response(request, response)
        _store(request).touch()
        return response


def _store(request: HttpRequest) -> SessionStore:
    return cast(SessionStore, request.session)  # SESSION_ENGINE
