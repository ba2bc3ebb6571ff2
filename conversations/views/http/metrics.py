"""The page `/metrics`, for Prometheus: only with the token of `METRICS_TOKEN`, and not there without that setting."""

from __future__ import annotations

import secrets

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from conversations.metrics import registry_of_all
from conversations.selectors.figures.live_gauges import LiveGauges

REGISTRY = registry_of_all()
REGISTRY.register(LiveGauges())


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Return the metrics of this process, or of all under one main process, and the gauges of the site.

    Without the token: not found.
    """
    _, _, token = request.headers.get("Authorization", "").partition("Bearer ")
    wanted = settings.METRICS_TOKEN
    if not wanted or not secrets.compare_digest(token.encode(), wanted.encode()):
        raise Http404
    return HttpResponse(
        generate_latest(REGISTRY), content_type=CONTENT_TYPE_LATEST, headers={"Cache-Control": "no-store"}
    )
