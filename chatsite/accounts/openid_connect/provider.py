"""The OpenID Connect provider: requests to it, and the claims that are taken from its answers."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from allauth.account.models import EmailAddress
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.helpers import render_authentication_error
from allauth.socialaccount.models import SocialApp, SocialLogin, SocialToken
from allauth.socialaccount.providers.base import ProviderAccount
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider as AllauthProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from requests import RequestException

from chatsite.accounts.openid_connect.id_token import IdTokenRefused, require_sign_in_since, verify_id_token
from chatsite.accounts.openid_connect.provider_reauthentication import FRESH_SIGN_IN, REAUTHENTICATE

Claims = dict[str, Any]


class ProviderClient(OpenIDConnectOAuth2Adapter):
    """The requests to the provider in one sign-in.

    *nonce* is what this site sent with the user, *asked_at* the Unix time at which it asked for reauthentication.
    """

    nonce = ""
    asked_at: int | None = None

    @property
    def openid_config(self) -> dict[str, Any]:
        with _as_provider_errors():
            config: dict[str, Any] = super().openid_config
            for field in ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri"):
                config[field]
        return config

    def complete_login(self, request: HttpRequest, app: SocialApp, token: SocialToken, **kwargs: Any) -> SocialLogin:
        claims = verify_id_token(
            str(kwargs["response"].get("id_token")),
            keys=self._get(self.openid_config["jwks_uri"]),
            issuer=self.openid_config["issuer"],
            client_id=app.client_id,
            nonce=self.nonce,
        )
        if self.asked_at is not None:
            require_sign_in_since(claims, self.asked_at)
        if "email" not in claims and "userinfo_endpoint" in self.openid_config:
            claims = {**self._userinfo(token.token, claims["sub"]), **claims}
        return self.get_provider().sociallogin_from_response(request, claims)

    def _userinfo(self, access_token: str, subject: str) -> Claims:
        claims = self._get(self.openid_config["userinfo_endpoint"], Authorization=f"Bearer {access_token}")
        if claims.get("sub") != subject:
            raise IdTokenRefused("userinfo is of another user")
        return claims

    def _get(self, url: str, **headers: str) -> dict[str, Any]:
        with _as_provider_errors(), get_adapter().get_requests_session() as session:
            response = session.get(url, headers=headers)
            response.raise_for_status()
            return dict(response.json())


class OpenIDConnectAccount(ProviderAccount):
    """A user's account at the provider, shown by its address."""


class OpenIDConnectProvider(AllauthProvider):
    account_class = OpenIDConnectAccount
    oauth2_adapter_class = ProviderClient
    pkce_enabled_default = True
    supports_token_authentication = False

    def get_redirect_from_request_kwargs(self, request: HttpRequest) -> dict[str, Any]:
        """Take only process and next page from the request, and no parameters for the provider."""
        wanted = super().get_redirect_from_request_kwargs(request)
        return {name: wanted[name] for name in ("process", "next_url") if name in wanted}

    def redirect(self, request: HttpRequest, process: str, **kwargs: Any) -> HttpResponse:
        """Send the user to the provider, by way of a page of ours.

        The Content-Security-Policy of our pages lets forms go to this site only; browsers apply that to redirects too.
        """
        nonce = secrets.token_urlsafe(24)
        auth_params, state = {"nonce": nonce}, {"nonce": nonce, **kwargs}
        if process == REAUTHENTICATE:
            auth_params, state = auth_params | FRESH_SIGN_IN, state | {"asked_at": int(time.time())}
        try:
            response = super().redirect(request, process, auth_params=auth_params, **state)
        except OAuth2Error as error:
            refusal: HttpResponse = render_authentication_error(request, self, exception=error)
            return refusal
        context = {"provider": self, "redirect_to": response.headers["Location"]}
        return render(request, "socialaccount/login_redirect.html", context)

    def extract_uid(self, claims: Claims) -> str:
        """Return one id for issuer and subject together: another provider may have the same subjects."""
        return hashlib.sha256(f"{claims['iss']}\n{claims['sub']}".encode()).hexdigest()

    def extract_extra_data(self, claims: Claims) -> Claims:
        return {"email": _text(claims, "email"), "name": _text(claims, "name")}

    def extract_common_fields(self, claims: Claims) -> Claims:
        return self.extract_extra_data(claims)

    def extract_email_addresses(self, claims: Claims) -> list[EmailAddress]:
        """Return the address, verified only if the provider says so of exactly this one; some say it with a string."""
        email = _text(claims, "email")
        verified = claims.get("email_verified") in (True, "true") and email == claims.get("email")
        return [EmailAddress(email=email, verified=verified, primary=True)] if email else []


def _text(claims: Claims, name: str) -> str:
    """Return a claim that is text, without NUL, which PostgreSQL can't hold."""
    value = claims.get(name)
    return value.replace("\x00", "") if isinstance(value, str) else ""


@contextmanager
def _as_provider_errors() -> Iterator[None]:
    """Turn the errors of a provider that is away, or answers nonsense, into allauth's error."""
    try:
        yield
    except (RequestException, LookupError, TypeError, ValueError) as error:
        raise OAuth2Error(f"the provider can't be asked ({type(error).__name__})") from error
