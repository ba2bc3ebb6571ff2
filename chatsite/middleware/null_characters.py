"""No address of ours has a NUL in it, and PostgreSQL can't even look for one."""

from __future__ import annotations

from urllib.parse import unquote

from django.core.exceptions import BadRequest
from django.http import HttpRequest
from django.utils.deprecation import MiddlewareMixin


class NulMiddleware(MiddlewareMixin):
    """Answers 400 to an address with a NUL, in its path or in its query."""

    def process_request(self, request: HttpRequest) -> None:
        if "\x00" in request.path_info or "\x00" in unquote(request.META.get("QUERY_STRING", "")):
            raise BadRequest("a NUL in the address")
