"""The last mail of an account, to the address that it had."""

from __future__ import annotations

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.http import HttpRequest


def send_goodbye(request: HttpRequest, email: str) -> None:
    """Say that the account is deleted, so that its person learns of it if it was somebody else's doing."""
    if settings.SMTP_URL:
        get_adapter(request).send_mail("account/email/account_deleted", email, {})
