"""What names a person outside of the rows that go with theirs."""

from __future__ import annotations

import re

from django.contrib.admin.models import LogEntry

from .models import Invitation, User


def forget_person(user: User) -> None:
    """Take the person's address out of the invitation they used, and out of what admins did with what was theirs.

    An invitation that nobody has used stays as it is: without an address it would be anybody's.
    """
    Invitation.objects.filter(used_by=user).update(email="", note="")
    # The admin calls its objects by the address, or by a phrase that ends with it: "limits of ada@example.org".
    named = LogEntry.objects.filter(object_repr__iregex=rf"(^|\s){re.escape(user.email)}(\s|$)")
    named.update(object_repr="")
