"""Request ids: each request gets one, which its log lines carry and its answer names as `X-Request-Id`.

A proxy's own id is not taken over: what a visitor sends must not decide what stands in the log.
"""

from __future__ import annotations

import uuid
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import sync_and_async_middleware
from structlog.contextvars import bound_contextvars

REQUEST_ID_HEADER = "X-Request-Id"


@sync_and_async_middleware
def RequestIdMiddleware(get_response: Any) -> Any:  # noqa: N802 -- Django names middleware like classes
    async def answer_async(request: HttpRequest) -> HttpResponseBase:
        request_id = uuid.uuid4().hex
        with bound_contextvars(request_id=request_id):
            response: HttpResponseBase = await get_response(request)
        response[REQUEST_ID_HEADER] = request_id
        return response

    def answer(request: HttpRequest) -> HttpResponseBase:
        request_id = uuid.uuid4().hex
        with bound_contextvars(request_id=request_id):
            response: HttpResponseBase = get_response(request)
        response[REQUEST_ID_HEADER] = request_id
        return response

    return answer_async if iscoroutinefunction(get_response) else answer
