"""The page on which users see which reviewers have read their conversations."""

from __future__ import annotations

from django.conf import settings
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from conversations.selectors.review.readings import readings_of_owner
from conversations.views.http import parameters
from conversations.views.http.errors import answers_errors
from conversations.views.http.htmx_request import HtmxRequest

ON_A_PAGE = 30


@require_safe
@answers_errors()
def readings(request: HtmxRequest) -> HttpResponse:
    """Who read which conversation, when and why, newest first. Not found where the site does not show it."""
    if not settings.READINGS_SHOWN_TO_OWNERS:
        raise Http404
    page = readings_of_owner(request.user, before=parameters.position(request, "before"), limit=ON_A_PAGE)
    context = {"page": page, "is_off": settings.CONVERSATION_READING == "off"}
    return render(request, "conversations/readings.html", context)
