"""Security headers of every page: Content-Security-Policy, Permissions-Policy, and that nothing is cached.

Everything that a page loads comes from the site itself. No page has inline scripts, so no nonces are needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils.decorators import sync_and_async_middleware

Directives = Mapping[str, Sequence[str]]

SELF, NONE, UNSAFE_EVAL, UNSAFE_INLINE = "'self'", "'none'", "'unsafe-eval'", "'unsafe-inline'"
DIRECTIVES: Directives = {
    "default-src": [NONE],
    "script-src": [SELF],
    "style-src": [SELF],
    "img-src": [SELF, "data:"],
    "font-src": [SELF],
    "connect-src": [SELF],
    "form-action": [SELF],
    "base-uri": [NONE],
    "frame-ancestors": [NONE],
    "manifest-src": [SELF],
}
# django-unfold builds on Alpine.js, which evaluates the expressions in its attributes, and writes colours inline.
ADMIN_DIRECTIVES: Directives = {
    **DIRECTIVES,
    "script-src": [SELF, UNSAFE_EVAL],
    "style-src": [SELF, UNSAFE_INLINE],
}
# A browser that is led to data shows it as a document that loads nothing and stands in no frame.
JSON_DIRECTIVES: Directives = {"default-src": [NONE], "frame-ancestors": [NONE]}
JSON = "application/json"
UNUSED_FEATURES = (
    "accelerometer", "autoplay", "browsing-topics", "camera", "display-capture", "encrypted-media", "fullscreen",
    "geolocation", "gyroscope", "hid", "local-fonts", "magnetometer", "midi", "payment",
    "picture-in-picture", "screen-wake-lock", "serial", "usb", "xr-spatial-tracking",
)  # fmt: skip
# The microphone is for dictation, which the browser does for our own pages, and asks its user before.
PERMISSIONS_POLICY = ", ".join([*(f"{feature}=()" for feature in UNUSED_FEATURES), "microphone=(self)"])
HEADERS = {
    "Cross-Origin-Resource-Policy": "same-origin",
    # Nearly every page is someone's own. A view whose answer may be kept sets its own header.
    "Cache-Control": "private, no-store",
}


def content_security_policy(directives: Directives) -> str:
    return "; ".join(f"{name} {' '.join(sources)}" for name, sources in directives.items())


POLICY, ADMIN_POLICY = content_security_policy(DIRECTIVES), content_security_policy(ADMIN_DIRECTIVES)
JSON_POLICY = content_security_policy(JSON_DIRECTIVES)


@sync_and_async_middleware
def SecurityHeadersMiddleware(get_response: Any) -> Any:  # noqa: N802 -- Django names middleware like classes
    """Adds our headers where a view has not set its own; stands behind ServeStatic, whose files may be cached."""

    async def add_async(request: HttpRequest) -> HttpResponseBase:
        return _with_headers(request, await get_response(request))

    def add(request: HttpRequest) -> HttpResponseBase:
        return _with_headers(request, get_response(request))

    return add_async if iscoroutinefunction(get_response) else add


def _with_headers(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    for name, value in HEADERS.items():
        response.setdefault(name, value)
    if response.get("Content-Type", "").startswith(JSON):  # the page's headers would take 600 bytes more
        response.setdefault("Content-Security-Policy", JSON_POLICY)
        return response
    response.setdefault("Permissions-Policy", PERMISSIONS_POLICY)
    if not (settings.DEBUG and response.status_code in (404, 500)):  # Django's debug pages have inline scripts
        is_admin = request.path_info.startswith(reverse("admin:index"))
        response.setdefault("Content-Security-Policy", ADMIN_POLICY if is_admin else POLICY)
    return response
