"""The reader's language is known to every request, but pages stay in the one language that they are written in.

Left to themselves, the catalogs of Django and of allauth would put single Chinese words and dates into English pages.
"""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest
from django.middleware.locale import LocaleMiddleware
from django.utils import translation


class ReaderLanguageMiddleware(LocaleMiddleware):
    """Sets `request.LANGUAGE_CODE` to the language that the browser asks for, and activates that of the pages."""

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        translation.activate(settings.LANGUAGE_CODE)
