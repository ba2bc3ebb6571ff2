"""Sign-in methods of a user, as the account page and the admin list them."""

from __future__ import annotations

from dataclasses import dataclass

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount

from chatsite.accounts.models import User


@dataclass(frozen=True, slots=True)
class SignInMethods:
    """*recovery_codes* is how many are left, None without a second factor that they could stand in for."""

    password: bool
    app: bool
    passkeys: int
    recovery_codes: int | None
    connections: int


def sign_in_methods(user: User) -> SignInMethods:
    factors: dict[str, list[Authenticator]] = {kind: [] for kind in Authenticator.Type.values}
    for factor in Authenticator.objects.filter(user=user):
        factors[factor.type].append(factor)
    codes = factors[Authenticator.Type.RECOVERY_CODES]
    return SignInMethods(
        password=user.has_usable_password(),
        app=bool(factors[Authenticator.Type.TOTP]),
        passkeys=len(factors[Authenticator.Type.WEBAUTHN]),
        recovery_codes=len(codes[0].wrap().get_unused_codes()) if codes else None,
        connections=SocialAccount.objects.filter(user=user).count(),
    )
