"""Changes by which an admin could come into somebody's account: on record for good, and told to its person.

No admin sets anybody's password: whoever has lost theirs is sent a link. What else opens an account, such as another
address, leaves a row that the person finds on their account page, and a mail to the address that there was before.
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

from chatsite.accounts.models import AccountChange, ChangeKind, User
from chatsite.accounts.requests import SignedInRequest

MOST_SHOWN = 50


def record_account_change(
    request: SignedInRequest, user: User, kind: ChangeKind, *, detail: str = "", email: str = ""
) -> None:
    """Put on record what the admin who asks has done to *user*; mail it once that is stored for good.

    *email* is where the person read their mail before; without it, their address.
    """
    change = AccountChange.objects.create(
        user=user, admin=request.user, admin_email=request.user.email, kind=kind, detail=detail
    )
    transaction.on_commit(partial(_mail, request, change, email or user.email))


def send_password_link(request: SignedInRequest, user: User) -> None:
    """Mail the person a link by which they choose a password. The admin who asks for it does not see it."""
    record_account_change(request, user, ChangeKind.LINK)
    transaction.on_commit(partial(_mail_link, request, user))


def list_account_changes(user: User) -> QuerySet[AccountChange]:
    """Return the newest changes that admins made to the person's account."""
    return AccountChange.objects.filter(user=user)[:MOST_SHOWN]


def _mail_link(request: HttpRequest, user: User) -> None:
    with request_context(request):  # which allauth asks for the site's address
        request_password_reset(request, user.email, [user], default_token_generator)


def _mail(request: HttpRequest, change: AccountChange, email: str) -> None:
    if settings.SMTP_URL:
        context = {"user": change.user, "change": change, "account_url": reverse("account")}
        with request_context(request):
            get_adapter(request).send_mail("account/email/account_changed", email, context)
