"""Access middleware: pages that need more than a sign-in — the admin, second factors, sign-in methods."""

from __future__ import annotations

from typing import Any, cast

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import ResolverMatch, reverse
from django.utils.deprecation import MiddlewareMixin

from chatsite.accounts.gate.admission import Admission
from chatsite.accounts.gate.seats import admit
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
from chatsite.accounts.security.security_middleware import record_refused_access

# Pages that ask for a second factor themselves: all other `mfa_…` pages of allauth change or show one.
SECOND_FACTOR_PROMPTS = {"mfa_authenticate", "mfa_reauthenticate", "mfa_reauthenticate_webauthn", "mfa_login_webauthn"}
# Pages, beside those of second factors, on which a user adds a sign-in method.
SIGN_IN_METHOD_PAGES = {"account_email", "account_set_password", "socialaccount_connections"}


class AdminAccessMiddleware(MiddlewareMixin):
    """Keeps staff out of the admin until they are admitted and have the second factor that this site requires.

    Users who are not staff are left to the admin itself: it sends them to the sign-in, or refuses.
    """

    def process_view(self, request: HttpRequest, *_: Any) -> HttpResponse | None:
        if "admin" not in _match(request).app_names or not (request.user.is_authenticated and request.user.is_staff):
            return None
        if admit(request.user) is not Admission.ADMITTED:
            record_refused_access(request, "gate")
            return redirect_to_login(_address(request), reverse("gate"))
        if must_set_up_second_factor(request.user):
            record_refused_access(request, "second factor")
            return redirect("second_factor")
        if settings.STAFF_SECOND_FACTOR and not has_shown_second_factor(request):
            record_refused_access(request, "second factor")
            return redirect(second_factor_url(request.user, _address(request)))
        return None


class SecondFactorAccessMiddleware(MiddlewareMixin):
    """Requires the second factor of users who have one before they change second factors.

    allauth would accept the password for that, also in a session from before there was a second factor.
    """

    def process_view(self, request: HttpRequest, *_: Any) -> HttpResponse | None:
        page = _match(request).url_name or ""
        if not page.startswith("mfa_") or page in SECOND_FACTOR_PROMPTS or not request.user.is_authenticated:
            return None
        if has_second_factor(request.user) and not has_shown_second_factor(request):
            return redirect(second_factor_url(request.user, _address(request)))
        return None


class ProviderAccessMiddleware(MiddlewareMixin):
    """Reauthenticates users at their identity provider, if it is their only sign-in method, before they add another.

    allauth asks them nothing: a passer-by at their open browser could choose a password.
    """

    def process_view(self, request: HttpRequest, *_: Any) -> HttpResponse | None:
        page = _match(request).url_name or ""
        adds_factor = page.startswith("mfa_") and page not in SECOND_FACTOR_PROMPTS
        if not (adds_factor or page in SIGN_IN_METHOD_PAGES) or not request.user.is_authenticated:
            return None
        if must_reauthenticate_at_provider(request):
            return redirect(provider_reauthentication_url(request.user, _address(request)))
        return None


def _match(request: HttpRequest) -> ResolverMatch:
    return cast(ResolverMatch, request.resolver_match)  # which Django sets before `process_view`


def _address(request: HttpRequest) -> str:
    """Return where the user wanted to go; a form that was posted is not posted again."""
    return request.get_full_path() if request.method == "GET" else request.path
