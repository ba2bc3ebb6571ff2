"""Compression of pages. Static files are compressed once, as files; other answers are small, or compressed already.

How long a compressed page is could tell another site what it repeats (BREACH). But requests that other sites cause in
the background come without the session's cookie, the token of forms differs each time, and Django adds random bytes.
"""

from __future__ import annotations

from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.utils.decorators import sync_and_async_middleware

_gzip = GZipMiddleware(lambda _request: HttpResponseBase())


@sync_and_async_middleware
def compress_pages(get_response: Any) -> Any:
    if iscoroutinefunction(get_response):

        async def compress_awaited(request: HttpRequest) -> HttpResponseBase:
            return _compress(request, await get_response(request))

        return compress_awaited

    def compress(request: HttpRequest) -> HttpResponseBase:
        return _compress(request, get_response(request))

    return compress


def _compress(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    if response.streaming or not response.get("Content-Type", "").startswith("text/html"):
        return response
    return _gzip.process_response(request, response)
