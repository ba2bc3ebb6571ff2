"""Guarantee that at least one active admin remains, also under concurrent changes."""

from __future__ import annotations

from collections.abc import Collection

from chatsite.accounts.models import User


def lock_remaining_admin(losing: Collection[int]) -> bool:
    """Lock all admins until the commit; return whether one remains without those whose ids are *losing*.

    Call it in the transaction that takes the rights away. Of two at once, the second waits here and sees what the first
    has done.
    """
    admins = User.objects.admins().select_for_update(no_key=True).order_by("pk")
    return not set(admins.values_list("pk", flat=True)) <= set(losing)
