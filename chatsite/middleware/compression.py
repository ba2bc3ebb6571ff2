"""Compression of pages and of JSON. Static files are compressed once, as files; the rest is small or no text.

How long a compressed page is could tell another site what it repeats (BREACH). But requests that other sites cause in
the background come without the session's cookie, the token of forms differs each time, and random bytes are added.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from typing import Any

import brotli
from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.utils.cache import patch_vary_headers
from django.utils.decorators import sync_and_async_middleware

TYPES = ("text/html", "application/json")
FEWEST_BYTES = 500  # what is shorter fits a packet as it is
QUALITY = 6  # a tenth smaller than gzip, in less time
MOST_RANDOM_BYTES = 50
_TAKES_BROTLI = re.compile(r"\bbr\b")
_gzip = GZipMiddleware(lambda _request: HttpResponseBase())


@sync_and_async_middleware
def compress_pages(get_response: Any) -> Any:
    if iscoroutinefunction(get_response):

        async def compress_awaited(request: HttpRequest) -> HttpResponseBase:
            response: HttpResponseBase = await get_response(request)
            if not _is_compressible(response):
                return response
            # Beside the event loop: a long conversation takes milliseconds.
            return await asyncio.to_thread(_compress, request, response)

        return compress_awaited

    def compress(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        return _compress(request, response) if _is_compressible(response) else response

    return compress


def _is_compressible(response: HttpResponseBase) -> bool:
    return (
        isinstance(response, HttpResponse)  # and no stream
        and response.get("Content-Type", "").startswith(TYPES)
        and not response.has_header("Content-Disposition")  # a file is kept as it was sent
        and len(response.content) >= FEWEST_BYTES
    )


def _compress(request: HttpRequest, response: Any) -> HttpResponseBase:
    if not _TAKES_BROTLI.search(request.headers.get("Accept-Encoding", "")) or response.has_header("Content-Encoding"):
        compressed: HttpResponseBase = _gzip.process_response(request, response)
        return compressed
    patch_vary_headers(response, ("Accept-Encoding",))
    response.content = brotli.compress(response.content + _random_end(response), quality=QUALITY)
    response["Content-Encoding"] = "br"
    response["Content-Length"] = str(len(response.content))
    return response  # type: ignore[no-any-return]


def _random_end(response: HttpResponseBase) -> bytes:
    """Return what means nothing at the end of the answer: a comment, or in JSON blanks, which also compress badly."""
    if response["Content-Type"].startswith("text/html"):
        return f"<!-- {secrets.token_hex(secrets.randbelow(MOST_RANDOM_BYTES))} -->".encode()
    return bytes(secrets.choice(b" \t\r\n") for _ in range(secrets.randbelow(4 * MOST_RANDOM_BYTES)))
