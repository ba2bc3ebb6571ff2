"""Come in through the gate: give its password, take a seat."""

from __future__ import annotations

import uuid

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import transaction
from django.db.models.functions import Now

from chatsite.accounts.gate.admission import Admission, admission_of, standings_of
from chatsite.accounts.gate.attempts import count_attempt, give_back_attempt
from chatsite.accounts.gate.passwords import is_right, password_asked_of
from chatsite.accounts.gate.seats import give_seats, lock_gate
from chatsite.accounts.models import GateEntry, User


def let_in(person: AbstractBaseUser | AnonymousUser) -> Admission:
    """Return whether *person* may come in; to one who waits a free seat is given first."""
    admission = admission_of(person.pk)
    if admission is Admission.WAITING:
        give_seats()
        admission = admission_of(person.pk)
    return admission


def unlock(user: User, raw: str, *, address: str) -> bool:
    """Let *user*, who gives the password *raw* from *address*, through the gate or onto its waiting list.

    Returns whether it is the right one; whether a seat was free says the admission. Raises `TooManyAttempts`.
    """
    count_attempt(user, address)
    standing = standings_of([user.pk]).get(user.pk)
    password = password_asked_of(user, standing) if standing else None
    if not is_right(password, raw) or password is None or standing is None:  # the account may be gone by now
        return False
    give_back_attempt(user, address)
    _enter(user, password.version)
    return True


def _enter(user: User, version: uuid.UUID) -> None:
    """Remember that *user* gave the password of *version*. Giving it again keeps one's place."""
    with transaction.atomic():
        lock_gate()
        GateEntry.objects.filter(user=user).exclude(version=version).delete()
        GateEntry.objects.get_or_create(user=user, defaults={"version": version, "unlocked_at": Now()})
        give_seats()
