"""That a person's export is made once at a time: it is read from the database for as long as its reader takes.

Held in the cache, as allauth's limits are. An export that nobody reads any more loses it after a while.
"""

from __future__ import annotations

from django.core.cache import cache

from chatsite.accounts.models import User

HELD_SECONDS = 60


def take_lease(user: User) -> bool:
    """Return whether this export may begin: none of the person's is under way."""
    return bool(cache.add(_key(user), True, HELD_SECONDS))


def prolong_lease(user: User) -> None:
    cache.touch(_key(user), HELD_SECONDS)


def give_back_lease(user: User) -> None:
    cache.delete(_key(user))


def _key(user: User) -> str:
    return f"account-export-{user.pk}"
