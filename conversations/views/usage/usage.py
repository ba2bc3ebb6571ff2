"""Views of a user's own usage and its cost: a page, its tables as files, and the switch that shows costs everywhere."""

from __future__ import annotations

from django.http import HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from conversations.core.errors import FrameError
from conversations.services.conversations.costs import store_costs_shown
from conversations.views.http import parameters
from conversations.views.http.errors import answers_errors, wants_json
from conversations.views.http.htmx_request import HtmxRequest

from .csv_response import csv_response
from .period_form import read_period
from .usage_context import usage_context
from .usage_files import FIGURES_IN_FILES, FILES


@require_safe
@answers_errors()
def usage(request: HtmxRequest) -> HttpResponse:
    """The user's usage in the chosen days, and what is left of their allowances."""
    return render(request, "conversations/usage.html", usage_context(request, read_period(request)))


@require_safe
@answers_errors()
def export_usage(request: HtmxRequest) -> HttpResponseBase:
    """One table of the page as a file, with all of its rows."""
    by = request.GET.get("by", "day")
    if by not in FILES:
        raise FrameError("by")
    period = read_period(request).period
    name = f"usage-by-{by.replace('_', '-')}-{period.first}-{period.last}.csv"
    return csv_response(name, (by, *FIGURES_IN_FILES), FILES[by].rows(request.user, period))


@require_POST
@answers_errors()
def show_costs(request: HtmxRequest) -> HttpResponse:
    """Show or hide tokens and costs, and go back to the conversation that is open, or to the page of usage."""
    store_costs_shown(request.user, shows=parameters.flag(request, "shows"))
    if wants_json(request):
        return JsonResponse({})
    current = parameters.optional_unique_id(request, "current")
    return redirect("conversations:conversation", current) if current else redirect("conversations:usage")
