"""Health probes: `/healthz` and `/livez` (liveness), `/readyz` (readiness: whether the site can serve, and how well).

Answered before all other middleware: probes send any Host, and need no session. Liveness asks nothing but the event
loop, because a restart does not repair a database. Readiness is JSON for who asks for JSON.
"""

from __future__ import annotations

from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.utils.decorators import sync_and_async_middleware

from chatsite.health.readiness import Readiness, readiness, readiness_async

LIVENESS, READINESS = ("/healthz", "/livez"), "/readyz"
TEXT = "text/plain; charset=utf-8"
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
}
RETRY_SECONDS = 5


@sync_and_async_middleware
def HealthMiddleware(get_response: Any) -> Any:  # noqa: N802 -- Django names middleware like classes
    async def answer_async(request: HttpRequest) -> HttpResponseBase:
        if request.path_info in LIVENESS:
            return liveness()
        if request.path_info == READINESS:
            return readiness_response(request, await readiness_async())
        response: HttpResponseBase = await get_response(request)
        return response

    def answer(request: HttpRequest) -> HttpResponseBase:
        if request.path_info in LIVENESS:
            return liveness()
        if request.path_info == READINESS:
            return readiness_response(request, readiness())
        response: HttpResponseBase = get_response(request)
        return response

    return answer_async if iscoroutinefunction(get_response) else answer


def liveness() -> HttpResponse:
    return HttpResponse("alive", content_type=TEXT, headers=HEADERS)


def readiness_response(request: HttpRequest, found: Readiness) -> HttpResponse:
    headers = HEADERS if found.is_ready else HEADERS | {"Retry-After": str(RETRY_SECONDS)}
    status = 200 if found.is_ready else 503
    if request.get_preferred_type(["text/plain", "application/json"]) == "application/json":
        return JsonResponse(found.as_json(), status=status, headers=headers)
    return HttpResponse(found.text, status=status, content_type=TEXT, headers=headers)
