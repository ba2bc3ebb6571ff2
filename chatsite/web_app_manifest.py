"""The web app manifest: with it browsers offer to install the site, and other apps to share a text with it.

Public, and the same for everyone: browsers may fetch it without cookies. Chromium asks for no service worker, so there
is none, and nothing of a page is kept on a device.
"""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, JsonResponse
from django.templatetags.static import static
from django.urls import reverse
from django.views.decorators.http import require_safe

NIGHT = "#12273a"  # of the icon; while an app starts


@require_safe
def manifest(request: HttpRequest) -> JsonResponse:
    """Return the manifest; a shared text arrives at a new conversation, in the composer."""
    start = reverse("conversations:new")
    icons = [("app-192", "192x192", "any"), ("app-512", "512x512", "any"), ("app-maskable-512", "512x512", "maskable")]
    content = {
        "id": start,
        "name": settings.SITE_NAME,
        "short_name": settings.SITE_NAME,
        "start_url": start,
        "scope": start,
        "display": "standalone",
        "background_color": NIGHT,
        "theme_color": NIGHT,
        "icons": [
            {"src": static(f"icons/{name}.png"), "sizes": sizes, "type": "image/png", "purpose": purpose}
            for name, sizes, purpose in icons
        ],
        "share_target": {
            "action": start,
            "method": "GET",
            "enctype": "application/x-www-form-urlencoded",  # the default; Chromium warns in its console without it
            "params": {"title": "shared_title", "text": "shared_text", "url": "shared_url"},
        },
    }
    headers = {"Cache-Control": "public, max-age=3600"}
    return JsonResponse(content, content_type="application/manifest+json", headers=headers)
