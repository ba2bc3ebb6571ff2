"""The session of a request, which knows where the request comes from."""

from __future__ import annotations

from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponseBase

from chatsite.accounts.sessions.session_store import Visitor


class SeenSessionMiddleware(SessionMiddleware):
    """Django's, which also writes down when and where a session was last seen."""

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        request.session.visitor = Visitor.of(request.META)

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        response = super().process_response(request, response)
        request.session.see_again()
        return response
