"""Deletion of an account: the rows that name a user and outlive the account, and the last email.

The rest is deleted by `conversations.services.portability.delete_account`.
"""

from __future__ import annotations

import json
import re

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import Q
from django.http import HttpRequest

from chatsite.accounts.models import AccountChange, Invitation, User
from chatsite.accounts.security.security_log import forget_security_events


def send_deletion_email(request: HttpRequest, email: str) -> None:
    """Say that the account is deleted, so that its owner learns of it if another person did it."""
    if settings.SMTP_URL:
        get_adapter(request).send_mail("account/email/account_deleted", email, {})


def forget_user(user: User) -> None:
    """Take the user's addresses out of the invitation they used, and out of the log of what admins did.

    An invitation that is not used stays as it is: without an address it would be open to any.
    """
    forget_security_events(user)
    AccountChange.objects.filter(user=user).update(user=None, detail="")
    Invitation.objects.filter(used_by=user).update(email="", note="")
    # The admin's log names objects by the address, or by a phrase that ends with it: "limits of ada@example.org". Its
    # entries on the account itself may name an earlier address.
    named = Q(object_repr__iregex=rf"(^|\s){re.escape(user.email)}(\s|$)")
    own = Q(content_type=ContentType.objects.get_for_model(User), object_id=str(user.pk))
    _forget_parts(own)
    LogEntry.objects.filter(named | own).update(object_repr="")


def _forget_parts(own: Q) -> None:
    """Empty the names of the account's parts, such as its limits, in the log entries on the account."""
    for entry in LogEntry.objects.filter(own, change_message__startswith="[{"):
        parts = json.loads(entry.change_message)
        for part in (part for each in parts for part in each.values() if "object" in part):
            part["object"] = ""
        entry.change_message = json.dumps(parts)
        entry.save(update_fields=["change_message"])
