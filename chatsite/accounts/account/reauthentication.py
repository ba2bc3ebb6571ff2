"""Showing once more that it is you, before what can't be undone or what holds everything."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from allauth.account.decorators import reauthentication_required
from allauth.account.internal.flows.reauthentication import is_reauthentication_required
from django.http import HttpResponseBase
from django.shortcuts import redirect

from chatsite.accounts.openid_connect.provider_reauthentication import (
    must_reauthenticate_at_provider,
    provider_reauthentication_url,
)
from chatsite.accounts.requests import SignedInRequest
from chatsite.accounts.second_factors.factors import has_second_factor, has_shown_second_factor, second_factor_url

View = Callable[..., HttpResponseBase]


def require_reauthentication(view: View) -> View:
    """Let through who has shown a few minutes ago that it is they; who has a second factor, with that in this session.

    Who signs in at an identity provider only shows it there.

    allauth would take the password alone for it, also in a session from before there was a second factor. And it would
    keep a form that came too late, and send it whenever they show it, be it weeks later; here the page is shown anew.
    """
    recently: View = reauthentication_required(view)

    @wraps(view)
    def answer(request: SignedInRequest, **kwargs: object) -> HttpResponseBase:
        if has_second_factor(request.user) and not has_shown_second_factor(request):
            return redirect(second_factor_url(request.user, request.path))
        if must_reauthenticate_at_provider(request):
            return redirect(provider_reauthentication_url(request.user, request.path))
        if request.method == "POST" and is_reauthentication_required(request, app="account"):
            return redirect(request.path)
        return recently(request, **kwargs)

    return answer
