"""Middleware that lets pages of the admin wait longer for the database: they add up what all have done."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, cast

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from chatsite.postgres.connection import long_work

ADMIN = "/admin/"


@sync_and_async_middleware
def LongWorkMiddleware(get_response: Any) -> Any:  # noqa: N802 -- Django names middleware like classes
    """Handle requests of the admin as long work."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        if not request.path_info.startswith(ADMIN):
            return cast(HttpResponseBase, get_response(request))
        with long_work():
            return cast(HttpResponseBase, get_response(request))

    async def answer_async(request: HttpRequest) -> HttpResponseBase:
        if not request.path_info.startswith(ADMIN):
            return await cast(Awaitable[HttpResponseBase], get_response(request))
        with long_work():
            return await cast(Awaitable[HttpResponseBase], get_response(request))

    return answer_async if iscoroutinefunction(get_response) else answer
