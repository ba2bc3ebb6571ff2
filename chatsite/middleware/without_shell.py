"""The header `X-Without-Shell`: a page asks with it for the content of another one alone, and keeps its own shell.

Which template answers is decided in `chatsite.context_processors`. Caches are told that an address has two answers.
"""

from __future__ import annotations

from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.decorators import sync_and_async_middleware

WITHOUT_SHELL = "X-Without-Shell"


def wants_no_shell(request: HttpRequest) -> bool:
    return WITHOUT_SHELL in request.headers


@sync_and_async_middleware
def WithoutShellMiddleware(get_response: Any) -> Any:  # noqa: N802 -- Django names middleware like classes
    """Names the header in `Vary` of every page; what is no HTML has no shell."""

    async def add_async(request: HttpRequest) -> HttpResponseBase:
        return _with_vary(await get_response(request))

    def add(request: HttpRequest) -> HttpResponseBase:
        return _with_vary(get_response(request))

    return add_async if iscoroutinefunction(get_response) else add


def _with_vary(response: HttpResponseBase) -> HttpResponseBase:
    if response.get("Content-Type", "").startswith("text/html"):
        patch_vary_headers(response, (WITHOUT_SHELL,))
    return response
