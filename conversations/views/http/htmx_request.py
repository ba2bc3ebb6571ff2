"""The request that a view is given: of a user who is signed in, with what htmx says about it."""

from __future__ import annotations

from django_htmx.middleware import HtmxDetails

from chatsite.accounts.signed_in_request import SignedInRequest


class HtmxRequest(SignedInRequest):
    """A request of a user who is signed in, as `answers_errors` lets it through to a view.

    *added_pictures* are the ids of those that came with its form and are kept, also if the message is then refused.
    """

    htmx: HtmxDetails
    added_pictures: list[int]
