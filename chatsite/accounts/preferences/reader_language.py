"""The reader's language: chosen in their account, else by cookie, else what their browser asks for.

Here are the middleware that activates it and the switch that every page has.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.deprecation import MiddlewareMixin
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import get_language_from_request
from django.views.decorators.http import require_POST

from chatsite.accounts.models import User


class ReaderLanguageMiddleware(MiddlewareMixin):
    """Activates the reader's language. Stands behind the middleware that knows the user."""

    def process_request(self, request: HttpRequest) -> None:
        translation.activate(reader_language(request))
        request.LANGUAGE_CODE = translation.get_language()

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        patch_vary_headers(response, ("Accept-Language", "Cookie"))
        response.headers.setdefault("Content-Language", translation.get_language())
        return response


@require_POST
def choose_language(request: HttpRequest) -> HttpResponse:
    """Remember the language that was chosen, and show the same page again in it."""
    code = request.POST.get("language", "")
    if not is_site_language(code):
        return HttpResponseBadRequest()
    response = redirect(_safe_path(request.POST.get("next", "")))
    remember_language(request, response, code)
    return response


def reader_language(request: HttpRequest) -> str:
    """Return the code of one of the site's languages."""
    chosen: str = getattr(getattr(request, "user", None), "language", "")  # an AnonymousUser has none
    return chosen if is_site_language(chosen) else get_language_from_request(request)


def known_language(request: HttpRequest) -> str:
    """Return what `reader_language` does, as far as it is known without the database, which may be what has failed."""
    chosen: str = getattr(getattr(request, "_cached_user", None), "language", "")  # Django's, once the user was read
    return chosen if is_site_language(chosen) else get_language_from_request(request)


def is_site_language(code: str) -> bool:
    return code in dict(settings.LANGUAGES)


def remember_language(request: HttpRequest, response: HttpResponse, code: str) -> None:
    """Store the choice: in the account of a user who is signed in, and in this browser."""
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


def same_page_url(request: HttpRequest) -> str:
    """Return the address that shows this page again; for the answer to a form, the address of the form's page."""
    if request.method in ("GET", "HEAD"):
        return request.get_full_path()
    referrer = urlsplit(request.headers.get("Referer", ""))
    is_ours = referrer.netloc == request.get_host()
    return _safe_path(referrer._replace(scheme="", netloc="", fragment="").geturl() if is_ours else "")


def _safe_path(address: str) -> str:
    is_safe = address.startswith("/") and url_has_allowed_host_and_scheme(address, allowed_hosts=None)
    return address if is_safe else "/"
