"""Security events that libraries announce by signals: sign-ins, sign-outs, factors, passwords, addresses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from allauth.account.signals import email_changed, password_changed, password_reset, password_set, user_signed_up
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import (
    authentication_failed,
    authenticator_added,
    authenticator_removed,
    authenticator_reset,
)
from django.contrib.auth.signals import user_logged_in, user_logged_out
from django.dispatch import Signal
from django.http import HttpRequest

from chatsite.accounts.models import SecurityEventKind, User
from chatsite.accounts.security.security_log import record_request_event

KINDS: dict[Signal, SecurityEventKind] = {
    user_logged_in: SecurityEventKind.SIGNED_IN,
    user_logged_out: SecurityEventKind.SIGNED_OUT,
    user_signed_up: SecurityEventKind.SIGNED_UP,
    password_changed: SecurityEventKind.PASSWORD_CHANGED,
    password_set: SecurityEventKind.PASSWORD_CHANGED,
    password_reset: SecurityEventKind.PASSWORD_RESET,
    email_changed: SecurityEventKind.EMAIL_CHANGED,
    authentication_failed: SecurityEventKind.CODE_FAILED,
    authenticator_added: SecurityEventKind.FACTOR_ADDED,
    authenticator_removed: SecurityEventKind.FACTOR_REMOVED,
    authenticator_reset: SecurityEventKind.CODES_RENEWED,
}


def connect_security_signals() -> None:
    for signal, kind in KINDS.items():
        signal.connect(_recorder(kind), weak=False, dispatch_uid="record the security event")


def _recorder(kind: SecurityEventKind) -> Callable[..., None]:
    def record(
        *, request: HttpRequest, user: User | None, authenticator: Authenticator | None = None, **_: Any
    ) -> None:
        about = str(authenticator.type) if authenticator else ""
        record_request_event(kind, request, user=user if user and user.pk else None, about=about)

    return record
