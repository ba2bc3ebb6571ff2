"""What names a person outside of the rows that go with theirs."""

from __future__ import annotations

import json
import re

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import Q

from chatsite.accounts.models import AccountChange, Invitation, User


def forget_person(user: User) -> None:
    """Take the person's addresses out of the invitation they used, and out of what admins did with their account.

    An invitation that nobody has used stays as it is: without an address it would be anybody's.
    """
    AccountChange.objects.filter(user=user).update(user=None, detail="")
    Invitation.objects.filter(used_by=user).update(email="", note="")
    # The admin calls its objects by the address, or by a phrase that ends with it: "limits of ada@example.org". What it
    # noted of the account itself may name an earlier address.
    named = Q(object_repr__iregex=rf"(^|\s){re.escape(user.email)}(\s|$)")
    own = Q(content_type=ContentType.objects.get_for_model(User), object_id=str(user.pk))
    _forget_parts(own)
    LogEntry.objects.filter(named | own).update(object_repr="")


def _forget_parts(own: Q) -> None:
    """Take the names of what hangs on the account, such as its limits, out of what was noted of the account."""
    for entry in LogEntry.objects.filter(own, change_message__startswith="[{"):
        parts = json.loads(entry.change_message)
        for part in (part for each in parts for part in each.values() if "object" in part):
            part["object"] = ""
        entry.change_message = json.dumps(parts)
        entry.save(update_fields=["change_message"])
