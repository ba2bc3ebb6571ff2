"""Reauthentication: a decorator for views that can't be undone or that hand out everything."""

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
from chatsite.accounts.second_factors.factors import has_second_factor, has_shown_second_factor, second_factor_url
from chatsite.accounts.signed_in_request import SignedInRequest

View = Callable[..., HttpResponseBase]


def require_reauthentication(view: View) -> View:
    """Let users through who reauthenticated in the last minutes, with their second factor if they have one.

    Users whose only sign-in method is an identity provider reauthenticate there.

    allauth would accept the password alone, also in a session from before there was a second factor. And it would keep
    a form that came too late, and submit it after reauthentication, be it weeks later; here the page is shown again.
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
