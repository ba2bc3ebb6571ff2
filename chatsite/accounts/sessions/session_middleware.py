"""Middleware of a request's session and of its user, who is loaded with it.

It also stores when and where a session was last seen, and empties a browser that signs out.
"""

from __future__ import annotations

from typing import Any, cast

from django.contrib.auth import get_user
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.contrib.auth.signals import user_logged_out
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponse
from django.utils.functional import SimpleLazyObject

from chatsite.accounts.sessions.session_store import ClientInfo, SessionStore

# Drafts are in the browser's storage. Not "cookies": that would empty all hosts of the same domain, and take this
# browser's language and its mark as a known device. Not "cache": Chromium searches all of it, which takes seconds.
CLEAR_SITE_DATA = '"storage"'


class TrackedSessionMiddleware(SessionMiddleware):
    """Django's, which tells the session store the client of the request, and asks browsers to forget at sign-out."""

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        _store(request).client = ClientInfo.from_meta(request.META)

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        response = super().process_response(request, response)
        _store(request).touch()
        if getattr(request, "has_signed_out", False):
            response.setdefault("Clear-Site-Data", CLEAR_SITE_DATA)
        return response


class SessionUserMiddleware(AuthenticationMiddleware):
    """Django's, whose user comes with the session, in the same statement."""

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        request.user = SimpleLazyObject(lambda: _find_user(request))  # type: ignore[assignment]  # as Django does


def _find_user(request: HttpRequest) -> AbstractBaseUser | AnonymousUser:
    if not hasattr(request, "_cached_user"):
        request._cached_user = _store(request).find_user() or get_user(request)  # type: ignore[attr-defined]
    return request._cached_user  # type: ignore[attr-defined, no-any-return]  # Django's name, for who asks without loading


def _note_sign_out(*, request: HttpRequest, **_: Any) -> None:
    request.has_signed_out = True  # type: ignore[attr-defined]


def connect_sign_out_signal() -> None:
    user_logged_out.connect(_note_sign_out, dispatch_uid="empty the browser that signs out")


def _store(request: HttpRequest) -> SessionStore:
    return cast(SessionStore, request.session)  # SESSION_ENGINE
