"""That it is still they, of people who sign in at an identity provider and nowhere else: they sign in there once more.

The provider is asked with `prompt=login` and `max_age=0` not to take its own session for it. Where its ID token says
when the person signed in, that must be later than the question: https://openid.net/specs/openid-connect-core-1_0.html
(3.1.2.1, read 2026-11). A provider that leaves `auth_time` out is believed.
"""

from __future__ import annotations

import time
from typing import Any

from allauth.account import app_settings
from allauth.account.authentication import get_authentication_records
from allauth.account.internal.flows.login import record_authentication
from allauth.socialaccount.models import SocialAccount, SocialLogin
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode

from chatsite.accounts.models import User
from chatsite.accounts.second_factors.factors import has_second_factor

CONFIRM = "confirm"  # one of allauth's processes, such as `login` and `connect`
ASKED_ANEW = {"prompt": "login", "max_age": "0"}


def must_reauthenticate_at_provider(request: HttpRequest) -> bool:
    """Say whether the person has no other way to show that it is they, and has not done it for a few minutes."""
    return _account_there(request.user) is not None and not _confirmed_recently(request)


def provider_reauthentication_url(user: User, back_to: str) -> str:
    """Return the page that sends *user* to the provider and then goes on to *back_to*."""
    account = _account_there(user)
    page = reverse("openid_connect_login", args=[account.provider if account else ""])
    return f"{page}?{urlencode({'process': CONFIRM, 'next': back_to})}"


def confirm(request: HttpRequest, sociallogin: SocialLogin) -> HttpResponse:
    """Take note of it if whoever came back is who is signed in here; nobody else is let in by it.

    Who has a password or a second factor here shows these: a provider that asks nobody must not stand in for them.
    """
    account = sociallogin.account
    if account._state.adding or sociallogin.user != request.user:
        return render(request, "socialaccount/not_you.html", status=403)
    if _account_there(request.user) is not None:
        details = {"provider": account.provider, "uid": account.uid}
        record_authentication(request, request.user, "socialaccount", reauthenticated=True, **details)
    return redirect(sociallogin.get_redirect_url(request) or "account")


def _account_there(user: Any) -> SocialAccount | None:
    """Return the provider's account of a person who has neither a password nor a second factor here."""
    if not settings.OIDC_SERVER_URL or not user.is_authenticated or user.has_usable_password():
        return None
    return None if has_second_factor(user) else SocialAccount.objects.filter(user=user).first()


def _confirmed_recently(request: HttpRequest) -> bool:
    since = time.time() - app_settings.REAUTHENTICATION_TIMEOUT
    records: list[dict[str, Any]] = get_authentication_records(request, request.user)
    return any(
        record["method"] == "socialaccount" and record.get("reauthenticated") and record["at"] > since
        for record in records
    )
