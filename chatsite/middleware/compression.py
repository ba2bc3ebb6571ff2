"""Compression of pages. Static files are compressed once, as files; other answers are small, or compressed already.

How long a compressed page is could tell another site what it repeats (BREACH). But requests that other sites cause in
the background come without the session's cookie, the token of forms differs each time, and Django adds random bytes.
"""

from __future__ import annotations

import asyncio
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
            response: HttpResponseBase = await get_response(request)
            if not _is_page(response):
                return response
            # Beside the event loop: a long conversation takes milliseconds.
            compressed: HttpResponseBase = await asyncio.to_thread(_gzip.process_response, request, response)
            return compressed

        return compress_awaited

    def compress(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        return _gzip.process_response(request, response) if _is_page(response) else response

    return compress


def _is_page(response: HttpResponseBase) -> bool:
    return not response.streaming and response.get("Content-Type", "").startswith("text/html")
