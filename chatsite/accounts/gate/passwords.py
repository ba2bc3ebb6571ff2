"""Gate passwords: set, generate, expire, revoke and check. Only hashes are stored.

Each change gives a password a new version. An entry with another version does not count any more, so users who entered
with the older password are out with the commit.
"""

from __future__ import annotations

import datetime as dt
import math
import secrets
import uuid

from django.contrib.auth.hashers import check_password, make_password
from django.db.models import Q
from django.db.models.functions import Now

from chatsite.accounts.gate.admission import AdmissionFacts
from chatsite.accounts.models import GatePassword, User

ALPHABET = "abcdefghjkmnpqrstuvwxyz"  # no i, l and o: they are taken for each other, and for digits
GROUPS, GROUP_LETTERS = 4, 4
ENTROPY_BITS = GROUPS * GROUP_LETTERS * math.log2(len(ALPHABET))
LONGEST_CHARACTERS = 200
SHORTEST_CHARACTERS = 8


def generate_password() -> str:
    """Return a random password that can be read out on the phone, such as `kmpq-wxyz-abcd-efgh`."""
    letters = ("".join(secrets.choice(ALPHABET) for _ in range(GROUP_LETTERS)) for _ in range(GROUPS))
    return "-".join(letters)


def set_password(raw: str, *, user: User | None = None, expires_at: dt.datetime | None = None) -> GatePassword:
    """Replace the gate password for all, or that of *user* alone, by *raw*."""
    fresh = {"hash": make_password(raw), "version": uuid.uuid4(), "set_at": Now(), "revoked_at": None}
    password, _ = GatePassword.objects.update_or_create(user=user, defaults={**fresh, "expires_at": expires_at})
    return password


def revoke_gate_password(*, user: User | None = None) -> bool:
    """Revoke the password. Returns False if there was none to revoke."""
    return bool(GatePassword.objects.filter(user=user, revoked_at=None).update(revoked_at=Now()))


def set_gate_password_expiry(expires_at: dt.datetime | None, *, user: User | None = None) -> bool:
    """Set when the password expires, or never. Users who entered with it stay in. Returns False if there is none."""
    return bool(GatePassword.objects.filter(user=user, revoked_at=None).update(expires_at=expires_at))


def find_gate_password(user: User | None) -> GatePassword | None:
    """Return the stored password, in force or not: the one for all, or *user*'s own."""
    return GatePassword.objects.filter(user=user).first()


def required_gate_password(user: User, facts: AdmissionFacts) -> GatePassword | None:
    """Return the password that *user* needs at the gate, None if none is in force."""
    is_theirs = Q(user=user) | Q(user=None)
    return GatePassword.objects.filter(is_theirs, Q(version=facts.required_version)).first()


def matches_gate_password(password: GatePassword | None, raw: str) -> bool:
    """Check *raw*, with as much work if there is no password: how long it takes reveals nothing."""
    if password is None:
        make_password(raw)
        return False
    return check_password(raw, password.hash)
