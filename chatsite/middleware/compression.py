"""Compression of pages and of JSON. Static files are compressed once, as files; the rest is small or no text.

How long a compressed page is could tell another site what it repeats (BREACH). But requests that other sites cause in
the background come without the session's cookie, the token of forms differs each time, and random bytes are added.
"""

from __future__ import annotations

import asyncio
import gzip
import secrets
from collections.abc import Callable
from functools import partial
from typing import Any

import brotli
from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.decorators import sync_and_async_middleware

from .accept_encoding import IDENTITY, choose_coding, refuses_identity

TYPES = ("text/html", "application/json")
FEWEST_BYTES = 500  # what is shorter fits a packet as it is
QUALITY = 6  # a tenth smaller than gzip, in less time
# brotli looks back over 64 kB, which is all of most pages. For more it makes tables of half a megabyte for each answer,
# which glibc fetches from the system and gives back: that took as long as the compressing, for at most 3 % less.
WINDOW_BITS = 16
MOST_RANDOM_BYTES = 50
# The best first.
COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    "br": partial(brotli.compress, quality=QUALITY, lgwin=WINDOW_BITS),
    "gzip": partial(gzip.compress, compresslevel=QUALITY, mtime=0),
}


@sync_and_async_middleware
def compress_pages(get_response: Any) -> Any:
    if iscoroutinefunction(get_response):

        async def compress_awaited(request: HttpRequest) -> HttpResponseBase:
            response: HttpResponseBase = await get_response(request)
            if not _is_compressible(request, response):
                return response
            # Beside the event loop: a long conversation takes milliseconds.
            return await asyncio.to_thread(_compress, request, response)

        return compress_awaited

    def compress(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        return _compress(request, response) if _is_compressible(request, response) else response

    return compress


def _is_compressible(request: HttpRequest, response: HttpResponseBase) -> bool:
    return (
        isinstance(response, HttpResponse)  # and no stream
        and response.get("Content-Type", "").startswith(TYPES)
        and not response.has_header("Content-Disposition")  # a file is kept as it was sent
        and not response.has_header("Content-Encoding")
        and (len(response.content) >= FEWEST_BYTES or _refuses_identity(request))
    )


def _compress(request: HttpRequest, response: Any) -> HttpResponseBase:
    patch_vary_headers(response, ("Accept-Encoding",))
    coding = choose_coding(request.headers.get("Accept-Encoding"), tuple(COMPRESSORS))
    if coding != IDENTITY:
        response.content = COMPRESSORS[coding](response.content + _random_end(response))
        response["Content-Encoding"] = coding
        response["Content-Length"] = str(len(response.content))
    return response  # type: ignore[no-any-return]


def _refuses_identity(request: HttpRequest) -> bool:
    return refuses_identity(request.headers.get("Accept-Encoding"))


def _random_end(response: HttpResponseBase) -> bytes:
    """Return what means nothing at the end of the answer: a comment, or in JSON blanks, which also compress badly."""
    if response["Content-Type"].startswith("text/html"):
        return f"<!-- {secrets.token_hex(secrets.randbelow(MOST_RANDOM_BYTES))} -->".encode()
    return bytes(secrets.choice(b" \t\r\n") for _ in range(secrets.randbelow(4 * MOST_RANDOM_BYTES)))
