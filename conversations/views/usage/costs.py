"""The view that shows or hides costs: one switch for all pages of a user."""

from __future__ import annotations

from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from conversations.services.conversations.costs import store_costs_shown
from conversations.views.http import parameters
from conversations.views.http.errors import answers_errors, wants_json
from conversations.views.http.requests import PersonRequest


@require_POST
@answers_errors()
def show_costs(request: PersonRequest) -> HttpResponse:
    """Show or hide tokens and costs, and go back to the conversation that is open, or to the page of usage."""
    store_costs_shown(request.user, shows=parameters.flag(request, "shows"))
    if wants_json(request):
        return JsonResponse({})
    current = parameters.optional_unique_id(request, "current")
    return redirect("conversations:conversation", current) if current else redirect("conversations:usage")
