"""The switch between languages, which every page has."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from chatsite.accounts.preferences.reader_language import is_offered, keep_language


@require_POST
def choose_language(request: HttpRequest) -> HttpResponse:
    """Keep the language that was chosen, and show the same page again in it."""
    code = request.POST.get("language", "")
    if not is_offered(code):
        return HttpResponseBadRequest()
    response = redirect(_on_this_site(request.POST.get("next", "")))
    keep_language(request, response, code)
    return response


def page_to_stay_on(request: HttpRequest) -> str:
    """Return the address that shows this page again; what a form's answer shows is shown by the form's own page."""
    if request.method in ("GET", "HEAD"):
        return request.get_full_path()
    came_from = urlsplit(request.headers.get("Referer", ""))
    is_ours = came_from.netloc == request.get_host()
    return _on_this_site(came_from._replace(scheme="", netloc="", fragment="").geturl() if is_ours else "")


def _on_this_site(address: str) -> str:
    is_safe = address.startswith("/") and url_has_allowed_host_and_scheme(address, allowed_hosts=None)
    return address if is_safe else "/"
