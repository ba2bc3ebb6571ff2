"""The gate for tests: opened, shut and gone through without hashing a password."""

from __future__ import annotations

import uuid
from typing import Any

from django.db.models.functions import Now

from chatsite.accounts.gate.seats import assign_seats
from chatsite.accounts.models import Gate, GateEntry, GateMode, GatePassword, User


def make_password(user: User | None = None, **fields: Any) -> GatePassword:
    """Store a password that is not known, for all or for *user* alone."""
    return GatePassword.objects.create(user=user, **{"hash": "!", "set_at": Now(), **fields})


def shut_gate(mode: str = GateMode.SHARED, **fields: Any) -> GatePassword:
    """Let the gate ask for a password, the same of all, and return it."""
    Gate.objects.update_or_create(singleton=True, defaults={"mode": mode, **fields})
    return GatePassword.objects.filter(user=None).first() or make_password()


def rotate(user: User | None = None) -> None:
    """Change the password as `set_password` does, without its work."""
    GatePassword.objects.filter(user=user).update(version=uuid.uuid4())


def enter(user: User, password: GatePassword | None = None) -> None:
    """Let *user* have given *password*, or the one for all, and take a seat if there is one."""
    password = password or GatePassword.objects.get(user=None)
    GateEntry.objects.filter(user=user).delete()
    GateEntry.objects.create(user=user, version=password.version, unlocked_at=Now())
    assign_seats()
