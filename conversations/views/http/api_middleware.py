"""Middleware that hands requests at `/v1` straight to their views: no session, no user, no language, no form token.

What stands behind it is for pages: for a request of a program it changed nothing, and took half of the time that the
event loop spends on one. An address where nothing is goes on, and is answered as everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from asgiref.sync import iscoroutinefunction
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import Resolver404, ResolverMatch, resolve
from django.utils.decorators import sync_and_async_middleware

from chatsite.accounts.models import SecurityEventKind
from chatsite.accounts.security.security_log import record_request_event
from chatsite.accounts.security.security_middleware import REFUSED, page_name
from conversations.live.database_threads import in_api_thread, note_served

from .api_errors import is_api
from .body_limit import body_refusal, note_stream


@sync_and_async_middleware
def answer_programs(get_response: Callable[..., Any]) -> Callable[..., Any]:
    """Answer requests at `/v1`. It stands before the middleware that reads sessions."""

    async def answer_async(request: ASGIRequest) -> HttpResponseBase:
        if not is_api(request) or (found := _find_view(request)) is None:
            return cast(HttpResponseBase, await get_response(request))
        request.get_host()  # raises DisallowedHost
        request.resolver_match = found
        note_served()
        if (refusal := body_refusal(request)) is not None:
            return refusal
        response: HttpResponseBase = await found.func(request, *found.args, **found.kwargs)
        if response.status_code == REFUSED:
            await in_api_thread(_record_refusal)(request, found)
        if response.streaming:
            note_stream(request)
        elif isinstance(response, HttpResponse):
            response.setdefault("Content-Length", str(len(response.content)))
        return response

    def answer(request: HttpRequest) -> HttpResponseBase:
        return cast(HttpResponseBase, get_response(request))  # without ASGI, as in tests

    return answer_async if iscoroutinefunction(get_response) else answer


def _record_refusal(request: HttpRequest, found: ResolverMatch) -> None:
    """Write down that it was refused, and to which key, if it came with one."""
    about, key = page_name(found), getattr(request, "api_key", None)
    if key is None:
        record_request_event(SecurityEventKind.ACCESS_REFUSED, request, about=about)
    else:
        about = f"{about}, key {key.pk}"
        record_request_event(SecurityEventKind.ACCESS_REFUSED, request, user=key.owner, about=about)


def _find_view(request: HttpRequest) -> ResolverMatch | None:
    try:
        found = resolve(request.path_info)
    except Resolver404:
        return None
    return found if iscoroutinefunction(found.func) else None
