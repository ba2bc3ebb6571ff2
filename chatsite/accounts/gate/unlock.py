"""Unlock the gate: check the password that a user gives, and assign seats."""

from __future__ import annotations

import uuid

from django.db import transaction
from django.db.models.functions import Now

from chatsite.accounts.attempts import TooManyAttempts
from chatsite.accounts.gate.admission import load_admission_facts
from chatsite.accounts.gate.attempts import count_gate_attempt, refund_gate_attempt
from chatsite.accounts.gate.passwords import matches_gate_password, required_gate_password
from chatsite.accounts.gate.seats import assign_seats, lock_gate
from chatsite.accounts.models import GateEntry, SecurityEventKind, User
from chatsite.accounts.security.security_log import record_security_event


def unlock(user: User, raw: str, *, address: str) -> bool:
    """Check the password *raw* that *user* gives from *address*; let them in or onto the waiting list if it is right.

    Returns whether it is right; the admission says whether a seat was free. Raises `TooManyAttempts`.
    """
    try:
        count_gate_attempt(user, address)
    except TooManyAttempts as refusal:
        if refusal.is_first:
            record_security_event(SecurityEventKind.GATE_LIMITED, user=user, address=address)
        raise
    facts = load_admission_facts([user.pk]).get(user.pk)
    password = required_gate_password(user, facts) if facts else None
    if not matches_gate_password(password, raw) or password is None or facts is None:  # the account may be gone by now
        record_security_event(SecurityEventKind.GATE_FAILED, user=user if facts else None, address=address)
        return False
    refund_gate_attempt(user, address)
    _record_entry(user, password.version)
    record_security_event(SecurityEventKind.GATE_ENTERED, user=user, address=address)
    return True


def _record_entry(user: User, version: uuid.UUID) -> None:
    """Store that *user* gave the password of *version*. Giving it again keeps the place in line."""
    with transaction.atomic():
        lock_gate()
        GateEntry.objects.filter(user=user).exclude(version=version).delete()
        GateEntry.objects.get_or_create(user=user, defaults={"version": version, "unlocked_at": Now()})
        assign_seats()
