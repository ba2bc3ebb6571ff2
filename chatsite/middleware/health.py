"""Health probes: `/healthz` and `/livez` (liveness), `/readyz` (readiness: whether the site can serve, and how well).

Answered before all other middleware: probes send any Host, and need no session. Liveness asks nothing but the event
loop, because a restart does not repair a database. Readiness is JSON for who asks for JSON.
"""

from __future__ import annotations

import logging
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.utils.decorators import sync_and_async_middleware

from chatsite.health.readiness import Readiness, readiness, readiness_async
from chatsite.health.seen_request import describe_request, is_asked_by_doctor

logger = logging.getLogger(__name__)

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
        if is_asked_by_doctor(request):
            return JsonResponse(describe_request(request), headers=HEADERS)
        response: HttpResponseBase = await get_response(request)
        return response

    def answer(request: HttpRequest) -> HttpResponseBase:
        if request.path_info in LIVENESS:
            return liveness()
        if request.path_info == READINESS:
            return readiness_response(request, readiness())
        if is_asked_by_doctor(request):
            return JsonResponse(describe_request(request), headers=HEADERS)
        response: HttpResponseBase = get_response(request)
        return response

    return answer_async if iscoroutinefunction(get_response) else answer


def liveness() -> HttpResponse:
    return HttpResponse("alive", content_type=TEXT, headers=HEADERS)


class ReadinessLog:
    """One line of the log when what `/readyz` says changes: probes ask every few seconds, maybe for hours."""

    def __init__(self) -> None:
        self._said = "ready"

    def write(self, found: Readiness) -> None:
        if found.text != self._said:
            logger.log(logging.INFO if found.is_ready else logging.WARNING, "/readyz says: %s", found.text)
            self._said = found.text


readiness_log = ReadinessLog()


def readiness_response(request: HttpRequest, found: Readiness) -> HttpResponse:
    readiness_log.write(found)
    headers = HEADERS if found.is_ready else HEADERS | {"Retry-After": str(RETRY_SECONDS)}
    status = 200 if found.is_ready else 503
    response: HttpResponse
    if request.get_preferred_type(["text/plain", "application/json"]) == "application/json":
        response = JsonResponse(found.as_json(), status=status, headers=headers)
    else:
        response = HttpResponse(found.text, status=status, content_type=TEXT, headers=headers)
    response._has_been_logged = True  # type: ignore[attr-defined]  # Django would write an error for each 503
    return response
