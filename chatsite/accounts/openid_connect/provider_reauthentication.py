"""Reauthentication at the identity provider, for users who sign in there and nowhere else: they sign in once more.

`prompt=login` and `max_age=0` ask the provider not to rely on its own session. If its ID token says when the user
signed in, that must be later than the question: https://openid.net/specs/openid-connect-core-1_0.html (3.1.2.1, read
2026-11). A provider that leaves `auth_time` out is believed.
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

REAUTHENTICATE = "confirm"  # a process beside allauth's, such as `login` and `connect`
FRESH_SIGN_IN = {"prompt": "login", "max_age": "0"}


def must_reauthenticate_at_provider(request: HttpRequest) -> bool:
    """Return whether the user can reauthenticate at the provider only, and has not done so in the last minutes."""
    return _provider_account(request.user) is not None and not _reauthenticated_recently(request)


def provider_reauthentication_url(user: User, back_to: str) -> str:
    """Return the page that sends *user* to the provider and then goes on to *back_to*."""
    account = _provider_account(user)
    page = reverse("openid_connect_login", args=[account.provider if account else ""])
    return f"{page}?{urlencode({'process': REAUTHENTICATE, 'next': back_to})}"


def record_reauthentication(request: HttpRequest, sociallogin: SocialLogin) -> HttpResponse:
    """Record it if the user who comes back from the provider is the one who is signed in here; refuse any other.

    Nothing is recorded for users with a password or a second factor here: a provider that does not ask again must not
    stand in for these.
    """
    account = sociallogin.account
    if account._state.adding or sociallogin.user != request.user:
        return render(request, "socialaccount/not_you.html", status=403)
    if _provider_account(request.user) is not None:
        details = {"provider": account.provider, "uid": account.uid}
        record_authentication(request, request.user, "socialaccount", reauthenticated=True, **details)
    return redirect(sociallogin.get_redirect_url(request) or "account")


def _provider_account(user: Any) -> SocialAccount | None:
    """Return the provider's account of a user who has neither a password nor a second factor here."""
    if not settings.OIDC_SERVER_URL or not user.is_authenticated or user.has_usable_password():
        return None
    return None if has_second_factor(user) else SocialAccount.objects.filter(user=user).first()


def _reauthenticated_recently(request: HttpRequest) -> bool:
    since = time.time() - app_settings.REAUTHENTICATION_TIMEOUT
    records: list[dict[str, Any]] = get_authentication_records(request, request.user)
    return any(
        record["method"] == "socialaccount" and record.get("reauthenticated") and record["at"] > since
        for record in records
    )
