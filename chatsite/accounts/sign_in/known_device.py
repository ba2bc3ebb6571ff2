"""Known devices: a cookie that a browser keeps after signing in, so that strangers' wrong passwords don't count for it.

The cookie opens nothing. It names the user, is signed with `SECRET_KEY`, and ends with the password that it was made
for. https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies (2026-11-25)
"""

from __future__ import annotations

import secrets
from typing import Any

from allauth.account.signals import password_changed, password_reset, password_set
from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.utils.deprecation import MiddlewareMixin

from chatsite.accounts.models import User

SALT = "known device"
MAX_AGE_SECONDS = 60 * 60 * 24 * 365
PASSWORD_FRAGMENT_CHARACTERS = 16


def find_known_device(request: HttpRequest, user: User) -> str | None:
    """Return the id of the device of *request*, if *user* has signed in with it since the last change of password."""
    cookie = request.COOKIES.get(settings.KNOWN_DEVICE_COOKIE_NAME, "")
    try:
        known = signing.loads(cookie, salt=SALT, max_age=MAX_AGE_SECONDS)
        user_id, device, fragment = known["user"], known["device"], known["password"]
    except (signing.BadSignature, KeyError, TypeError):
        return None
    is_theirs = user_id == user.pk and constant_time_compare(fragment, _password_fragment(user))
    return str(device) if is_theirs else None


def connect_known_device_signals() -> None:
    """Let a browser become known where the user signs in, and stay known where the password is changed.

    A reset by the link in an email counts as well: it proves more than a password.
    """
    for signal in (user_logged_in, password_changed, password_set, password_reset):
        signal.connect(_remember, dispatch_uid="remember the known device")


class KnownDeviceMiddleware(MiddlewareMixin):
    """Sets the cookie of a known device in the response to the request that made it known."""

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        user = getattr(request, "known_device_of", None)
        if user is not None and user.pk:
            value = {"user": user.pk, "device": secrets.token_hex(8), "password": _password_fragment(user)}
            response.set_cookie(
                settings.KNOWN_DEVICE_COOKIE_NAME,
                signing.dumps(value, salt=SALT),
                max_age=MAX_AGE_SECONDS,
                secure=settings.SESSION_COOKIE_SECURE,
                httponly=True,
                samesite="Lax",
            )
        return response


def _remember(*, request: HttpRequest, user: User, **_: Any) -> None:
    request.known_device_of = user  # type: ignore[attr-defined]  # for the middleware


def _password_fragment(user: User) -> str:
    """Return a part of a keyed hash of the password's hash: it reveals nothing, and another password has another."""
    return user.get_session_auth_hash()[:PASSWORD_FRAGMENT_CHARACTERS]
