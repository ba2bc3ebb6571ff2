"""The request that a view is given: of a user who is signed in, with what htmx says about it."""

from __future__ import annotations

from django_htmx.middleware import HtmxDetails

from chatsite.accounts.signed_in_request import SignedInRequest


class HtmxRequest(SignedInRequest):
    """A request of a user who is signed in, as `answers_errors` lets it through to a view."""

    htmx: HtmxDetails
