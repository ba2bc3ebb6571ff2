"""django-allauth's adapter for single sign-on: sign-up by the site's policy, accounts linked by verified address."""

from __future__ import annotations

import logging
from typing import Any

from allauth.account.adapter import get_adapter as get_account_adapter
from allauth.account.models import EmailAddress
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialLogin
from allauth.socialaccount.providers.base import AuthProcess, Provider
from django.db import transaction
from django.http import HttpRequest
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from chatsite.accounts.models import User
from chatsite.accounts.openid_connect.link_account import (
    drop_unverified_claims,
    may_link_by_email,
    remove_unproved_sign_in_methods,
)
from chatsite.accounts.openid_connect.provider_reauthentication import (
    REAUTHENTICATE,
    must_reauthenticate_at_provider,
    provider_reauthentication_url,
    record_reauthentication,
)
from chatsite.accounts.sign_up.sign_up_policy import complete_sign_up, is_sign_up_open, may_sign_up
from chatsite.names import clean_name

log = logging.getLogger(__name__)


class SocialAccountAdapter(DefaultSocialAccountAdapter):
    """Signs up by the site's policy; an address that the provider has verified opens the account that has it."""

    error_messages = {
        **DefaultSocialAccountAdapter.error_messages,
        "no_password": _("This is your only way to sign in. Choose a password first, then disconnect it."),
        "no_verified_email": _(
            "This is your only way to sign in. Confirm your email address first, then disconnect it."
        ),
    }

    def get_requests_session(self) -> Any:
        """Return a session that follows no redirect: only the addresses that the provider names are asked."""
        session = super().get_requests_session()
        session.max_redirects = 0  # one raises `TooManyRedirects`, and nothing is asked for at its address
        return session

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """Decide by the address; a user without one is asked for it first, and then it decides."""
        email = sociallogin.user.email
        return may_sign_up(request.session, email) if email else is_sign_up_open(request.session)

    def authenticate_by_email(self, sociallogin: SocialLogin) -> tuple[User, str] | None:
        """Return the account whose own address is one of the verified addresses.

        allauth would also accept an account that has only asked to change to the address.
        """
        for email in _verified(sociallogin):
            user = User.objects.filter(email=email).first()
            if user:
                return user, email
        return None

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Decide whether an account that was found by its address may be opened, before anything of it is shown."""
        drop_unverified_claims(_verified(sociallogin))
        if sociallogin.state.get("process") == REAUTHENTICATE:
            raise ImmediateHttpResponse(record_reauthentication(request, sociallogin))
        is_connecting = sociallogin.state.get("process") == AuthProcess.CONNECT
        if is_connecting and request.user.is_authenticated and must_reauthenticate_at_provider(request):
            # Another account at the provider is a sign-in method, and no page that our middleware guards begins it.
            url = provider_reauthentication_url(request.user, reverse("socialaccount_connections"))
            raise ImmediateHttpResponse(redirect(url))
        found_by_address = sociallogin.is_existing and sociallogin.account._state.adding
        if not found_by_address or is_connecting:
            return
        if not sociallogin.user.is_active:
            raise ImmediateHttpResponse(get_account_adapter().respond_user_inactive(request, sociallogin.user))
        if not may_link_by_email(sociallogin.user):
            raise ImmediateHttpResponse(render(request, "socialaccount/not_confirmed.html", status=403))
        remove_unproved_sign_in_methods(sociallogin.user)

    @transaction.atomic
    def save_user(self, request: HttpRequest, sociallogin: SocialLogin, form: Any = None) -> User:
        """Make the account whole or not at all. Raises `SignUpRefused` if the invitation or link was used meanwhile."""
        user: User = super().save_user(request, sociallogin, form)
        if complete_sign_up(request.session, user):
            # The operator's link proves more than an email could, and a first start often can't send email yet.
            EmailAddress.objects.filter(user=user).update(verified=True)
        return user

    def populate_user(self, request: HttpRequest, sociallogin: SocialLogin, data: dict[str, Any]) -> User:
        user: User = super().populate_user(request, sociallogin, data)
        user.name = clean_name(data.get("name", ""), most_characters=User._meta.get_field("name").max_length)
        return user

    def on_authentication_error(
        self, request: HttpRequest, provider: Provider, error: Any = None, exception: Any = None, **_: Any
    ) -> None:
        """Log the reason for the operator; the user is told that it did not work."""
        log.warning("Signing in at %s failed: %s, %s", provider, error, _without_secrets(exception))


def _verified(sociallogin: SocialLogin) -> list[str]:
    return [address.email for address in sociallogin.email_addresses if address.verified]


def _without_secrets(exception: Exception | None) -> str:
    """Return the error without the provider's answer: there may be tokens in it."""
    text = str(exception or "")
    return "no access token was given" if text.startswith("Error retrieving access token") else text
