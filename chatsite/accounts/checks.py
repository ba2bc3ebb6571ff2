"""System checks of the sign-up settings.

| id            | problem                                                               |
|---------------|-----------------------------------------------------------------------|
| accounts.E001 | sign-up by domain, and no domain is listed                            |
| accounts.E002 | something listed is not a domain                                      |
| accounts.E003 | sign-up by domain, and no email proves that an address is one's own   |
| accounts.W001 | domains are listed, and sign-up is not by domain                      |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from allauth import app_settings as allauth_settings
from django.apps import AppConfig
from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error, register

from chatsite.accounts.sign_up.domains import ascii_domain


@register
def check_sign_up(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Refuse to start with a policy that is open to all, or to none, while it says something else."""
    if settings.SIGN_UP == "domains":
        return _check_domains(settings.SIGN_UP_DOMAINS) + _check_proof()
    if settings.SIGN_UP_DOMAINS:
        text = f"SIGN_UP_DOMAINS has no effect while SIGN_UP is {settings.SIGN_UP}."
        return [checks.Warning(text, hint="Set SIGN_UP=domains, or empty the list.", id="accounts.W001")]
    return []


def _check_domains(listed: Sequence[str]) -> list[CheckMessage]:
    if not listed:
        hint = "List them by commas: SIGN_UP_DOMAINS=example.org,example.net"
        return [Error("SIGN_UP is domains, and SIGN_UP_DOMAINS is empty.", hint=hint, id="accounts.E001")]
    hint = (
        "Write it as after the @ of an address: example.org. What two rules spell differently goes in punycode: xn--…"
    )
    return [
        Error(f"SIGN_UP_DOMAINS: {domain!r} is not a domain.", hint=hint, id="accounts.E002")
        for domain in listed
        if ascii_domain(domain) is None
    ]


def _check_proof() -> list[CheckMessage]:
    if settings.SMTP_URL or allauth_settings.SOCIALACCOUNT_ONLY:
        return []
    text = "SIGN_UP is domains, but without mail anybody may claim any address."
    hint = "Set SMTP_URL, so that new accounts confirm theirs; or SIGN_UP=invitation."
    return [Error(text, hint=hint, id="accounts.E003")]
