"""The session of a request, which knows where the request comes from."""

from __future__ import annotations

from typing import cast

from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponse

from chatsite.accounts.sessions.session_store import SessionStore, Visitor


class SeenSessionMiddleware(SessionMiddleware):
    """Django's, which also writes down when and where a session was last seen."""

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        _store_of(request).visitor = Visitor.of(request.META)

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        response = super().process_response(request, response)
        _store_of(request).see_again()
        return response


def _store_of(request: HttpRequest) -> SessionStore:
    return cast(SessionStore, request.session)  # SESSION_ENGINE
