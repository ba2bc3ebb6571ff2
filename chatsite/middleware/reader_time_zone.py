"""Every page tells the time by one clock: that of whoever reads it."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils import timezone
from django.utils.deprecation import MiddlewareMixin

from chatsite.accounts.preferences.time_zone import zone_of


class ReaderClockMiddleware(MiddlewareMixin):
    """Activates the reader's zone: moments on pages and in forms are in it, the database keeps them all the same."""

    def process_request(self, request: HttpRequest) -> None:
        timezone.activate(zone_of(request.COOKIES))
