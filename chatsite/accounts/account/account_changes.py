"""Account changes: admins' changes that could open a user's account, recorded append-only and told to the user.

No admin sets a user's password: who has lost theirs is sent a link. Any other change that could open an account, such
as another email address, leaves a row that the user sees on the account page, and an email to the previous address.
"""

from __future__ import annotations

from functools import partial

from allauth.account.adapter import get_adapter
from allauth.account.forms import default_token_generator
from allauth.account.internal.flows.password_reset import request_password_reset
from allauth.core.context import request_context
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse

from chatsite.accounts.models import AccountChange, ChangeKind, SecurityEventKind, User
from chatsite.accounts.security.security_log import record_request_event
from chatsite.accounts.signed_in_request import SignedInRequest

MOST_SHOWN = 50


def record_account_change(
    request: SignedInRequest, user: User, kind: ChangeKind, *, detail: str = "", email: str = ""
) -> None:
    """Record what the admin of *request* has done to *user*; email it after the commit.

    *email* is the user's previous address, if it has changed.
    """
    change = AccountChange.objects.create(
        user=user, admin=request.user, admin_email=request.user.email, kind=kind, detail=detail
    )
    about = f"{kind} by {request.user.pk}"
    record_request_event(SecurityEventKind.CHANGED_BY_ADMIN, request, user=user, about=about)
    transaction.on_commit(partial(_mail, request, change, email or user.email))


def send_password_link(request: SignedInRequest, user: User) -> None:
    """Email the user a link to choose a password. The admin who requests it does not see it."""
    record_account_change(request, user, ChangeKind.LINK)
    transaction.on_commit(partial(_mail_link, request, user))


def list_account_changes(user: User) -> QuerySet[AccountChange]:
    """Return the newest changes that admins made to the user's account."""
    return AccountChange.objects.filter(user=user)[:MOST_SHOWN]


def _mail_link(request: HttpRequest, user: User) -> None:
    with request_context(request):  # which allauth asks for the site's address
        request_password_reset(request, user.email, [user], default_token_generator)


def _mail(request: HttpRequest, change: AccountChange, email: str) -> None:
    if settings.SMTP_URL:
        context = {"user": change.user, "change": change, "account_url": reverse("account")}
        with request_context(request):
            get_adapter(request).send_mail("account/email/account_changed", email, context)
