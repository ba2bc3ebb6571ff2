"""Health probes: `/healthz` (liveness) and `/readyz` (readiness: the database answers and is migrated).

Answered before all other middleware: probes send any Host, and need no session. Liveness asks nothing but the event
loop, because a restart does not repair a database.
"""

from __future__ import annotations

from typing import Any

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.db import Error, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

LIVENESS, READINESS = "/healthz", "/readyz"


@sync_and_async_middleware
def HealthMiddleware(get_response: Any) -> Any:  # noqa: N802 -- Django names middleware like classes
    async def answer_async(request: HttpRequest) -> HttpResponseBase:
        if request.path_info == LIVENESS:
            return liveness()
        if request.path_info == READINESS:
            return await sync_to_async(readiness)()
        response: HttpResponseBase = await get_response(request)
        return response

    def answer(request: HttpRequest) -> HttpResponseBase:
        if request.path_info == LIVENESS:
            return liveness()
        if request.path_info == READINESS:
            return readiness()
        response: HttpResponseBase = get_response(request)
        return response

    return answer_async if iscoroutinefunction(get_response) else answer


def liveness() -> HttpResponse:
    return _plain("alive", 200)


def readiness() -> HttpResponse:
    try:
        if waiting := migrations_to_apply():
            return _plain(f"{waiting} migrations are not applied", 503)
    except Error:
        return _plain("the database does not answer", 503)
    return _plain("ready", 200)


def migrations_to_apply() -> int:
    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def _plain(text: str, status: int) -> HttpResponse:
    return HttpResponse(text, status=status, content_type="text/plain", headers={"Cache-Control": "no-store"})
