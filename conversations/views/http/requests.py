"""The request that a view is given."""

from __future__ import annotations

from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails

from chatsite.accounts.models import User


class PersonRequest(HttpRequest):
    """A request of a user who is signed in, as `answers_errors` lets it through to a view."""

    user: User
    htmx: HtmxDetails
