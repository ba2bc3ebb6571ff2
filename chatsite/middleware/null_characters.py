"""Reject URLs that contain NUL: PostgreSQL can't store one, nor look for it."""

from __future__ import annotations

from urllib.parse import unquote

from django.core.exceptions import BadRequest
from django.http import HttpRequest
from django.utils.deprecation import MiddlewareMixin


class NullCharacterMiddleware(MiddlewareMixin):
    """Answers 400 to a URL with a NUL in its path or its query."""

    def process_request(self, request: HttpRequest) -> None:
        if "\x00" in request.path_info or "\x00" in unquote(request.META.get("QUERY_STRING", "")):
            raise BadRequest("a NUL in the address")
