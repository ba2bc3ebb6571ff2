"""Views of a user's own usage and its cost: a page, and its tables as files."""

from __future__ import annotations

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from conversations.core.errors import FrameError
from conversations.views.http.errors import answers_errors
from conversations.views.http.requests import PersonRequest

from .csv_response import csv_response
from .period_form import read_period
from .usage_context import usage_context
from .usage_files import FIGURES_IN_FILES, FILES


@require_safe
@answers_errors()
def usage(request: PersonRequest) -> HttpResponse:
    """The user's usage in the chosen days, and what is left of their allowances."""
    return render(request, "conversations/usage.html", usage_context(request, read_period(request)))


@require_safe
@answers_errors()
def export_usage(request: PersonRequest) -> HttpResponseBase:
    """One table of the page as a file, with all of its rows."""
    by = request.GET.get("by", "day")
    if by not in FILES:
        raise FrameError("by")
    period = read_period(request).period
    name = f"usage-by-{by.replace('_', '-')}-{period.first}-{period.last}.csv"
    return csv_response(name, (by, *FIGURES_IN_FILES), FILES[by].rows(request.user, period))
