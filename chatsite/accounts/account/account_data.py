"""Export of the account itself: profile, addresses, sign-in methods, sessions. No secrets."""

from __future__ import annotations

from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.utils import timezone

from chatsite.accounts.models import User

OWN_FIELDS = (
    *("email", "name", "role", "language", "shows_costs", "shows_costs_always", "about_me"),
    *("recalls_other_conversations", "time_zone", "date_joined", "last_login"),
)


def account_data(user: User) -> dict[str, Any]:
    """Return the account as plain values."""
    return {name: getattr(user, name) for name in OWN_FIELDS} | {
        "email_addresses": list(EmailAddress.objects.filter(user=user).values("email", "verified", "primary")),
        "second_factors": [_factor(factor) for factor in Authenticator.objects.filter(user=user).order_by("pk")],
        "connected_sign_ins": list(SocialAccount.objects.filter(user=user).values("provider", "date_joined")),
        "sessions": _sessions(user),
        "changed_by_admins": list(user.changes.values("at", "kind", "detail", "admin_email")),
    }


def _factor(factor: Authenticator) -> dict[str, Any]:
    """Return its type, name and dates, never its secrets."""
    is_named = factor.type == Authenticator.Type.WEBAUTHN
    return {
        "type": factor.type,
        "name": str(factor) if is_named else "",
        "created_at": factor.created_at,
        "last_used_at": factor.last_used_at,
    }


def _sessions(user: User) -> list[dict[str, Any]]:
    stored = user.sessions.filter(expire_date__gt=timezone.now()).order_by("began_at")
    return [dict(row) for row in stored.values("user_agent", "address", "began_at", "last_seen_at")]
