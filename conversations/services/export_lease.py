"""That a person's export is made once at a time: it is read from the database for as long as its reader takes.

Held in the cache, as allauth's limits are. An export that nobody reads any more loses it after a while.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from django.core.cache import cache

from chatsite.accounts.models import User

HELD_SECONDS = 60


@dataclass(frozen=True, slots=True)
class ExportLease:
    """The right to make one export; *token* tells it from a later one of the same person."""

    key: str
    token: str

    def prolong(self) -> None:
        cache.touch(self.key, HELD_SECONDS)

    def give_back(self) -> None:
        """Let another begin. Given back twice, it takes nothing from whoever has begun since."""
        if cache.get(self.key) == self.token:
            cache.delete(self.key)


def take_lease(user: User) -> ExportLease | None:
    """Return the lease for an export of *user*; None while one is being made."""
    lease = ExportLease(f"account-export-{user.pk}", secrets.token_hex())
    return lease if cache.add(lease.key, lease.token, HELD_SECONDS) else None
