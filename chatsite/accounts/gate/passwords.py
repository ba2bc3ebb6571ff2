"""The passwords of the gate: set, made up, given an end, revoked, and compared. Only hashes are stored.

Each change gives a password a new version. An entry made with another version counts no longer, so whoever came in by
the older password is shut out with the commit.
"""

from __future__ import annotations

import datetime as dt
import math
import secrets
import uuid

from django.contrib.auth.hashers import check_password, make_password
from django.db.models import Q
from django.db.models.functions import Now

from chatsite.accounts.gate.admission import Standing
from chatsite.accounts.models import GatePassword, User

ALPHABET = "abcdefghjkmnpqrstuvwxyz"  # no i, l and o: they are taken for each other, and for digits
GROUPS, GROUP_LETTERS = 4, 4
ENTROPY_BITS = GROUPS * GROUP_LETTERS * math.log2(len(ALPHABET))
LONGEST_CHARACTERS = 200
SHORTEST_CHARACTERS = 8


def make_up_password() -> str:
    """Return a random password that can be read out on the telephone, such as `kmpq-wxyz-abcd-efgh`."""
    letters = ("".join(secrets.choice(ALPHABET) for _ in range(GROUP_LETTERS)) for _ in range(GROUPS))
    return "-".join(letters)


def set_password(raw: str, *, user: User | None = None, expires_at: dt.datetime | None = None) -> GatePassword:
    """Let *raw* open the gate from now on, for all or for *user* alone, in place of what did before."""
    fresh = {"hash": make_password(raw), "version": uuid.uuid4(), "set_at": Now(), "revoked_at": None}
    password, _ = GatePassword.objects.update_or_create(user=user, defaults={**fresh, "expires_at": expires_at})
    return password


def revoke_password(*, user: User | None = None) -> bool:
    """Let the password open nothing any more. Returns False if there was none in force."""
    return bool(GatePassword.objects.filter(user=user, revoked_at=None).update(revoked_at=Now()))


def set_expiry(expires_at: dt.datetime | None, *, user: User | None = None) -> bool:
    """Give the password another end, or none. Those who came in by it stay in. False if there is none to give it to."""
    return bool(GatePassword.objects.filter(user=user, revoked_at=None).update(expires_at=expires_at))


def find_password(user: User | None) -> GatePassword | None:
    """Return what is stored of a password, in force or not: the one for all, or *user*'s own."""
    return GatePassword.objects.filter(user=user).first()


def password_asked_of(user: User, standing: Standing) -> GatePassword | None:
    """Return the password that opens the gate for *user*, None where none is in force."""
    is_theirs = Q(user=user) | Q(user=None)
    return GatePassword.objects.filter(is_theirs, Q(version=standing.opening_version)).first()


def is_right(password: GatePassword | None, raw: str) -> bool:
    """Compare, with as much work where there is no password: how long it takes tells nothing."""
    if password is None:
        make_password(raw)
        return False
    return check_password(raw, password.hash)
