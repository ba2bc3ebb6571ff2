"""The language that a person reads: chosen in their account, or by cookie, or else what their browser asks for."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.translation import get_language_from_request

from chatsite.accounts.models import User


def language_of(request: HttpRequest) -> str:
    """Return the code of a language that the site has."""
    chosen: str = getattr(getattr(request, "user", None), "language", "")  # an AnonymousUser has none
    return chosen if is_offered(chosen) else get_language_from_request(request)


def is_offered(code: str) -> bool:
    return code in dict(settings.LANGUAGES)


def keep_language(request: HttpRequest, response: HttpResponse, code: str) -> None:
    """Remember what was chosen: in the account of who is signed in, and in this browser for who is not."""
    if request.user.is_authenticated:
        User.objects.filter(pk=request.user.pk).update(language=code)
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        code,
        max_age=settings.LANGUAGE_COOKIE_AGE,
        secure=settings.LANGUAGE_COOKIE_SECURE,
        httponly=settings.LANGUAGE_COOKIE_HTTPONLY,
        samesite=settings.LANGUAGE_COOKIE_SAMESITE,
    )
