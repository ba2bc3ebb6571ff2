"""Headers that keep browsers from doing more with our pages than we mean."""

from __future__ import annotations

from typing import Any

from asgiref.sync import iscoroutinefunction
from csp.middleware import CSPMiddleware, PolicyParts
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils.decorators import sync_and_async_middleware

from chatsite.middleware.content_security import ADMIN_DIRECTIVES

UNUSED_FEATURES = (
    "accelerometer", "autoplay", "browsing-topics", "camera", "display-capture", "encrypted-media", "fullscreen",
    "geolocation", "gyroscope", "hid", "local-fonts", "magnetometer", "microphone", "midi", "payment",
    "picture-in-picture", "screen-wake-lock", "serial", "usb", "xr-spatial-tracking",
)  # fmt: skip
HEADERS = {
    "Permissions-Policy": ", ".join(f"{feature}=()" for feature in UNUSED_FEATURES),
    "Cross-Origin-Resource-Policy": "same-origin",
    # Nearly every page is someone's own. What may be kept says so itself.
    "Cache-Control": "private, no-store",
}


@sync_and_async_middleware
def SecurityHeadersMiddleware(get_response: Any) -> Any:  # noqa: N802 -- Django names middleware like classes
    """Adds our headers where a view has not set its own; stands behind ServeStatic, whose files may be kept."""

    async def add_async(request: HttpRequest) -> HttpResponseBase:
        return _with_headers(await get_response(request))

    def add(request: HttpRequest) -> HttpResponseBase:
        return _with_headers(get_response(request))

    return add_async if iscoroutinefunction(get_response) else add


def _with_headers(response: HttpResponseBase) -> HttpResponseBase:
    for name, value in HEADERS.items():
        response.setdefault(name, value)
    return response


class ContentSecurityMiddleware(CSPMiddleware):
    """Gives the admin's pages their own policy: the only place where it is given."""

    def get_policy_parts(
        self, request: HttpRequest, response: HttpResponseBase, report_only: bool = False
    ) -> PolicyParts:
        parts = super().get_policy_parts(request, response, report_only)
        if not report_only and request.path_info.startswith(reverse("admin:index")):
            parts.config = ADMIN_DIRECTIVES
        return parts
