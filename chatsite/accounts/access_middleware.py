"""The doors that ask for more than being signed in, each for all addresses behind it."""

from __future__ import annotations

from typing import Any, cast

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import ResolverMatch, reverse
from django.utils.deprecation import MiddlewareMixin

from chatsite.accounts.gate.admission import Admission
from chatsite.accounts.gate.unlock import admit
from chatsite.accounts.openid_connect.provider_reauthentication import (
    must_reauthenticate_at_provider,
    provider_reauthentication_url,
)
from chatsite.accounts.second_factors.factors import (
    has_second_factor,
    has_shown_second_factor,
    must_set_up_second_factor,
    second_factor_url,
)

# Pages that ask for a second factor themselves: everything else of allauth's `mfa_…` changes or shows one.
ASKING = {"mfa_authenticate", "mfa_reauthenticate", "mfa_reauthenticate_webauthn", "mfa_login_webauthn"}


WAYS_IN = {"account_email", "account_set_password", "socialaccount_connections"}


class AdminAccessMiddleware(MiddlewareMixin):
    """Keeps staff out of every address of the admin until they have what this site asks of them.

    Who is not staff is the admin's own business: it sends them to the sign-in, or refuses.
    """

    def process_view(self, request: HttpRequest, *_: Any) -> HttpResponse | None:
        if "admin" not in _match(request).app_names or not (request.user.is_authenticated and request.user.is_staff):
            return None
        if admit(request.user) is not Admission.ADMITTED:
            return redirect_to_login(_address(request), reverse("gate"))
        if must_set_up_second_factor(request.user):
            return redirect("second_factor")
        if settings.STAFF_SECOND_FACTOR and not has_shown_second_factor(request):
            return redirect(second_factor_url(request.user, _address(request)))
        return None


class SecondFactorAccessMiddleware(MiddlewareMixin):
    """Lets nobody change second factors with the password alone: whoever has one shows it first.

    allauth would take the password for that, also in a session from before there was a second factor.
    """

    def process_view(self, request: HttpRequest, *_: Any) -> HttpResponse | None:
        page = _match(request).url_name or ""
        if not page.startswith("mfa_") or page in ASKING or not request.user.is_authenticated:
            return None
        if has_second_factor(request.user) and not has_shown_second_factor(request):
            return redirect(second_factor_url(request.user, _address(request)))
        return None


class ProviderAccessMiddleware(MiddlewareMixin):
    """Sends who signs in at an identity provider only there once more, before they make another way in.

    allauth asks them nothing: whoever found their browser open could choose a password.
    """

    def process_view(self, request: HttpRequest, *_: Any) -> HttpResponse | None:
        page = _match(request).url_name or ""
        makes_a_way_in = page.startswith("mfa_") and page not in ASKING
        if not (makes_a_way_in or page in WAYS_IN) or not request.user.is_authenticated:
            return None
        if must_reauthenticate_at_provider(request):
            return redirect(provider_reauthentication_url(request.user, _address(request)))
        return None


def _match(request: HttpRequest) -> ResolverMatch:
    return cast(ResolverMatch, request.resolver_match)  # which Django sets before `process_view`


def _address(request: HttpRequest) -> str:
    """Return where the person wanted to go; what was posted is not posted again."""
    return request.get_full_path() if request.method == "GET" else request.path
