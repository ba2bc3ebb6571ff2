"""Passkeys: where browsers allow them, and forms that withstand malformed input.

fido2 and cryptography are loaded when a passkey is used: see `deferred_module`.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from allauth.core import context
from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    EditWebAuthnForm,
    LoginWebAuthnForm,
    ReauthenticateWebAuthnForm,
)
from allauth.mfa.webauthn.internal import auth
from django import forms
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chatsite.accounts.models import SecurityEventKind, User
from chatsite.accounts.security.security_log import record_request_event
from chatsite.names import NameInput

NAME_LENGTH = 60
CREDENTIAL_LENGTH = 32_768  # the largest attestations are a third of it
# A passkey is made and used for a name, in a secure context: what the Web Authentication specification asks.
# https://www.w3.org/TR/webauthn-3/#rp-id (2026-11-21)
LOCAL_NAME = "localhost"


def why_no_passkeys(request: HttpRequest) -> str:
    """Return why browsers allow no passkeys at the address that was asked for, or "" if they do."""
    asked_for = urlsplit(f"//{request.get_host()}")
    host = asked_for.hostname or ""
    if _is_address(host) and ipaddress.ip_address(host).is_loopback:
        port = f":{asked_for.port}" if asked_for.port else ""
        return gettext("To use passkeys, open this site at %(url)s.") % {"url": f"http://{LOCAL_NAME}{port}"}
    if _is_address(host):
        return gettext("Passkeys need a host name; browsers don’t allow them at %(host)s.") % {"host": host}
    if host != LOCAL_NAME and not request.is_secure():
        return gettext("Passkeys need HTTPS; browsers don’t allow them without it.")
    return ""


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _malformed_errors() -> tuple[type[Exception], ...]:
    """Return what fido2 and the JSON parser raise at malformed input."""
    from cryptography.exceptions import InvalidSignature

    return (ValueError, LookupError, TypeError, AttributeError, RecursionError, InvalidSignature)


@contextmanager
def _rejecting_malformed_input() -> Iterator[None]:
    """Turn what the parsers of a passkey's answer raise into a form error: anyone can post anything."""
    try:
        yield
    except _malformed_errors() as error:
        raise get_adapter().validation_error("incorrect_code") from error


class CredentialField(forms.JSONField):
    """The answer of a browser, as JSON. It is stored as it came, and PostgreSQL's JSON holds no NUL."""

    widget = forms.HiddenInput

    def to_python(self, value: str | None) -> dict[str, Any]:  # type: ignore[override]  # the stubs make JSON text
        with _rejecting_malformed_input():
            if value and (len(value) > CREDENTIAL_LENGTH or "\\u0000" in value):
                raise ValueError("not of a browser")
            return dict(super().to_python(value) or {})

    def bound_data(self, data: str | None, initial: Any) -> None:
        """Never show it again: the page's script fills it in."""


class AddPasskeyForm(AddWebAuthnForm):
    """Adds a passkey, by default one that is enough to sign in."""

    credential = CredentialField()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"] = NameInput(
            label=_("Name"), required=False, max_length=NAME_LENGTH, help_text=_("To tell your passkeys apart.")
        )
        self.fields["passwordless"].label = _("Sign in with it alone, without a password")
        self.fields["passwordless"].help_text = _(
            "It asks for your fingerprint, face or PIN. Otherwise it is used after your password."
        )
        self.fields["passwordless"].initial = True

    def clean(self) -> dict[str, Any]:
        with _rejecting_malformed_input():
            return _with_chosen_purpose(super().clean())


def _with_chosen_purpose(added: dict[str, Any]) -> dict[str, Any]:
    """Write the user's choice where allauth looks for the browser's report of it, which not every browser gives."""
    if "credential" in added:
        results = added["credential"].setdefault("clientExtensionResults", {})
        results["credProps"] = {"rk": added["passwordless"]}
    return added


class RenamePasskeyForm(EditWebAuthnForm):
    name = NameInput(label=_("Name"), max_length=NAME_LENGTH)


class _AnyCredential(forms.Form):
    """For allauth's three forms that take a passkey: they expect well-formed input."""

    credential = CredentialField()
    user: User | None

    def clean_credential(self) -> Authenticator:
        try:
            with _rejecting_malformed_input():
                return super().clean_credential()  # type: ignore[misc]  # of the form that it is mixed into
        except forms.ValidationError:
            record_request_event(SecurityEventKind.CODE_FAILED, context.request, user=self.user, about="webauthn")
            raise


class UsePasskeyForm(_AnyCredential, AuthenticateWebAuthnForm):
    """Takes a passkey after the password."""


class SignInByPasskeyForm(_AnyCredential, LoginWebAuthnForm):
    """Takes a passkey instead of password and second factor: so it must have verified its user.

    allauth keeps one challenge in a session, for any purpose, and the purpose that it was begun for decides whether the
    finger, the face or the PIN is required. One that was begun for a second factor could be answered by a mere touch.
    """

    def clean_credential(self) -> Authenticator:
        from fido2.webauthn import UserVerificationRequirement

        begun = auth.get_state() or {}
        if begun.get("user_verification") != UserVerificationRequirement.REQUIRED:
            raise get_adapter().validation_error("incorrect_code")
        authenticator = super().clean_credential()
        if not authenticator.wrap().is_passwordless:
            raise get_adapter().validation_error("incorrect_code")
        return authenticator


class ReauthenticateByPasskeyForm(_AnyCredential, ReauthenticateWebAuthnForm):
    """Takes a passkey from a user who is signed in already."""
