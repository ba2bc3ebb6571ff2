"""That the site keeps an admin, whoever takes whose rights at the same moment."""

from __future__ import annotations

from collections.abc import Collection

from chatsite.accounts.models import User


def lock_remaining_admin(losing: Collection[int]) -> bool:
    """Return whether there is an admin beside those whose ids are *losing*, and hold all of them until the commit.

    Call it in the transaction that takes the rights away. Of two that do at once, the second waits here and sees what
    the first one did.
    """
    admins = User.objects.admins().select_for_update(no_key=True).order_by("pk")
    return not set(admins.values_list("pk", flat=True)) <= set(losing)
