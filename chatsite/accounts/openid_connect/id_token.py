"""Verify ID tokens: signature, issuer, audience, expiry and nonce."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from django.utils.crypto import constant_time_compare

# Signatures by a key of the provider. Never `none`, and never a shared secret: a public key could be taken for one.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
REQUIRED = ["iss", "sub", "aud", "exp", "iat", "nonce"]
CLOCKS_DIFFER_SECONDS = 60


class IdTokenRefused(OAuth2Error):
    """The token is not the provider's, not for this site or not of this sign-in; the message is for the log."""


def verify_id_token(token: str, *, keys: Mapping[str, Any], issuer: str, client_id: str, nonce: str) -> dict[str, Any]:
    """Return the claims of *token*, signed by one of *keys* (a JSON Web Key Set), for this client and this *nonce*.

    Raises `IdTokenRefused`.
    """
    import jwt  # a megabyte, which allauth does not load before it is used either

    try:
        claims: dict[str, Any] = jwt.decode(
            token,
            key=_signing_key(token, keys),
            algorithms=ALGORITHMS,
            issuer=issuer,
            audience=client_id,
            leeway=CLOCKS_DIFFER_SECONDS,
            options={"require": REQUIRED},
        )
    except (jwt.PyJWTError, TypeError, ValueError, LookupError, AttributeError) as error:
        raise IdTokenRefused(f"{type(error).__name__}: {error}") from error
    if claims.get("azp", client_id) != client_id:
        raise IdTokenRefused("it was made for another client")
    if not claims["sub"]:  # all whom the provider leaves nameless would be one
        raise IdTokenRefused("it names no subject")
    if not nonce or not constant_time_compare(str(claims["nonce"]), nonce):
        raise IdTokenRefused("its nonce is of another sign-in")
    return claims


def require_sign_in_since(claims: Mapping[str, Any], asked_at: int) -> None:
    """Raise `IdTokenRefused` if the token says that the user signed in before *asked_at* (Unix time)."""
    signed_in_at = claims.get("auth_time", asked_at)
    if not isinstance(signed_in_at, int | float) or signed_in_at < asked_at - CLOCKS_DIFFER_SECONDS:
        raise IdTokenRefused("the person was not asked to sign in again")


def _signing_key(token: str, keys: Mapping[str, Any]) -> Any:
    """Return the key that *token* names, or the only one there is."""
    import jwt

    name = jwt.get_unverified_header(token).get("kid")
    usable = [key for key in jwt.PyJWKSet.from_dict(dict(keys)).keys if key.public_key_use in (None, "sig")]
    named = [key for key in usable if key.key_id == name] if name else usable
    if len(named) != 1:
        raise IdTokenRefused("the provider has no key of that name")
    return named[0].key
