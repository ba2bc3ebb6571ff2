"""Second factors: whether a user has one, must have one, and has shown it in this session.

A passkey that replaces the password counts as both factors: it asks for a finger, a face or a PIN itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from allauth.account.authentication import get_authentication_records
from allauth.account.internal.flows.login import record_authentication
from allauth.mfa.models import Authenticator
from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import urlencode

from chatsite.accounts.models import User

FACTORS = [Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN]  # recovery codes only stand in for one of these


def has_second_factor(user: User) -> bool:
    return bool(is_mfa_enabled(user, FACTORS))


def has_shown_second_factor(request: HttpRequest) -> bool:
    """Return whether this session was begun, or reauthenticated, with a second factor."""
    records: list[dict[str, Any]] = get_authentication_records(request, request.user)
    return any(record["method"] == "mfa" for record in records)


def record_new_factor(request: HttpRequest, user: User, authenticator: Authenticator, **_: Any) -> None:
    """Count a factor that was set up in this session as shown in it: to set it up, it was used.

    Users have shown their earlier factors before they get here, see `SecondFactorAccessMiddleware`.
    """
    if authenticator.type in FACTORS:
        record_authentication(request, user, "mfa", id=authenticator.pk, type=authenticator.type)


def remove_second_factors(users: Iterable[User]) -> None:
    """Delete all factors and recovery codes of users who have lost theirs: then the password is enough again."""
    Authenticator.objects.filter(user__in=users).delete()


def must_set_up_second_factor(user: User) -> bool:
    """Return whether *user*, who is staff, must set up a second factor before entering the admin."""
    return bool(settings.STAFF_SECOND_FACTOR) and not has_second_factor(user)


def second_factor_url(user: User, back_to: str) -> str:
    """Return the page that asks *user* for the second factor and then goes on to *back_to*."""
    has_app = is_mfa_enabled(user, [Authenticator.Type.TOTP])
    page = "mfa_reauthenticate" if has_app else "mfa_reauthenticate_webauthn"
    return f"{reverse(page)}?{urlencode({'next': back_to})}"
