"""Showing once more that it is you, before what can't be undone or what holds everything."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from allauth.account.decorators import reauthentication_required
from allauth.account.internal.flows.reauthentication import is_reauthentication_required
from django.http import HttpResponseBase
from django.shortcuts import redirect

from chatsite.accounts.openid_connect.confirmation import confirmation_there_url, must_confirm_there
from chatsite.accounts.requests import SignedInRequest
from chatsite.accounts.second_factors.factors import confirmation_url, has_second_factor, showed_second_factor

View = Callable[..., HttpResponseBase]


def confirmed(view: View) -> View:
    """Let through who has shown a few minutes ago that it is they; who has a second factor, with that in this session.

    Who signs in at an identity provider only shows it there.

    allauth would take the password alone for it, also in a session from before there was a second factor. And it would
    keep a form that came too late, and send it whenever they show it, be it weeks later; here the page is shown anew.
    """
    recently: View = reauthentication_required(view)

    @wraps(view)
    def answer(request: SignedInRequest, **kwargs: object) -> HttpResponseBase:
        if has_second_factor(request.user) and not showed_second_factor(request):
            return redirect(confirmation_url(request.user, request.path))
        if must_confirm_there(request):
            return redirect(confirmation_there_url(request.user, request.path))
        if request.method == "POST" and is_reauthentication_required(request, app="account"):
            return redirect(request.path)
        return recently(request, **kwargs)

    return answer
