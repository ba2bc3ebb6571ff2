"""Settings of single sign-on, the OpenID Connect provider, in django-allauth's form."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

PROVIDER_ID = "sso"  # it is in the address that the provider sends people back to: /accounts/oidc/sso/login/callback/
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")


def social_providers(*, server_url: str, client_id: str, client_secret: str, name: str) -> dict[str, Any]:
    """Return SOCIALACCOUNT_PROVIDERS: no provider if nothing is set, one if all is set.

    Raises `ImproperlyConfigured` if something is missing, or if sign-ins would go over an unencrypted connection.
    """
    needed = {"OIDC_SERVER_URL": server_url, "OIDC_CLIENT_ID": client_id, "OIDC_CLIENT_SECRET": client_secret}
    missing = [setting for setting, value in needed.items() if not value]
    if missing and len(missing) < len(needed):
        raise ImproperlyConfigured(f"Single sign-on also needs {' and '.join(missing)}.")
    app = {
        "provider_id": PROVIDER_ID,
        "name": name,
        "client_id": client_id,
        "secret": client_secret,
        "settings": {"server_url": _checked(server_url)},
    }
    provider_class = "chatsite.accounts.openid_connect.provider.OpenIDConnectProvider"
    return {"openid_connect": {"provider_class": provider_class, "APPS": [] if missing else [app]}}


def _checked(server_url: str) -> str:
    parts = urlsplit(server_url)
    is_local = parts.scheme == "http" and parts.hostname in LOCAL_HOSTS
    if server_url and not (is_local or (parts.scheme == "https" and parts.hostname)):
        raise ImproperlyConfigured("OIDC_SERVER_URL must begin with https://")
    return server_url.rstrip("/")
