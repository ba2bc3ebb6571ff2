"""The page that shows the description of the API to people: every address with its fields, answers and errors."""

from __future__ import annotations

from functools import lru_cache

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from conversations.core.errors import ApiOff
from conversations.views.account.api_keys import api_address
from conversations.views.http.errors import answers_errors
from conversations.views.http.htmx_request import HtmxRequest
from conversations.wording.api_reference import ApiReference, read_reference

from .openapi import describe_api


@lru_cache(maxsize=1)
def _reference() -> ApiReference:
    return read_reference(describe_api())


@require_GET
@answers_errors()
def api_reference(request: HtmxRequest) -> HttpResponse:
    if not settings.API:
        raise ApiOff
    return render(request, "account/api_reference.html", {"reference": _reference(), "address": api_address()})
