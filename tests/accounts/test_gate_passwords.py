from __future__ import annotations

import datetime as dt

import pytest
from django.utils import timezone

from chatsite.accounts.gate.admission import load_admission_facts
from chatsite.accounts.gate.passwords import (
    ALPHABET,
    ENTROPY_BITS,
    find_gate_password,
    generate_password,
    matches_gate_password,
    required_gate_password,
    revoke_gate_password,
    set_gate_password_expiry,
    set_password,
)
from chatsite.accounts.models import Gate, GatePassword

pytestmark = pytest.mark.django_db
RAW = "a window seat, please"


def test_a_made_up_password_can_be_read_out_and_not_be_guessed():
    password = generate_password()
    assert ENTROPY_BITS >= 60
    assert set(password) <= set(ALPHABET) | {"-"}
    assert not set(ALPHABET) & set("ilo01")
    assert len({generate_password() for _ in range(100)}) == 100


def test_it_is_stored_as_argon2(settings, site_hashers):
    settings.PASSWORD_HASHERS = site_hashers
    stored = set_password(RAW)
    assert stored.hash.startswith("argon2$argon2id$")
    assert RAW not in stored.hash
    assert matches_gate_password(stored, RAW)
    assert not matches_gate_password(stored, RAW.upper())


def test_a_new_password_takes_the_place_of_the_old_one_with_another_version():
    first = set_password(RAW)
    second = set_password(RAW)
    assert GatePassword.objects.count() == 1
    assert second.version != first.version


def test_a_new_password_is_not_revoked_and_ends_when_it_is_told_to(ada):
    set_password(RAW, user=ada, expires_at=timezone.now())
    revoke_gate_password(user=ada)
    set_password(RAW, user=ada)
    stored = find_gate_password(ada)
    assert (stored.revoked_at, stored.expires_at) == (None, None)


def test_what_is_revoked_stays_revoked_at_its_time():
    set_password(RAW)
    assert revoke_gate_password()
    revoked_at = find_gate_password(None).revoked_at
    assert not revoke_gate_password()
    assert find_gate_password(None).revoked_at == revoked_at


def test_another_end_keeps_the_version(ada):
    version = set_password(RAW, user=ada).version
    tomorrow = timezone.now() + dt.timedelta(days=1)
    assert set_gate_password_expiry(tomorrow, user=ada)
    stored = find_gate_password(ada)
    assert (stored.version, stored.expires_at) == (version, tomorrow)


def test_there_is_no_end_to_give_to_a_revoked_password_or_to_none():
    assert not set_gate_password_expiry(None)
    set_password(RAW)
    revoke_gate_password()
    assert not set_gate_password_expiry(None)


def test_the_password_for_all_and_a_person_s_own_are_two(ada):
    set_password(RAW)
    own = set_password("another one", user=ada)
    revoke_gate_password()
    assert find_gate_password(ada).version == own.version
    assert find_gate_password(ada).revoked_at is None


@pytest.mark.parametrize(
    ("mode", "stored", "asked"),
    [
        ("shared", {"own": "in force", "shared": "in force"}, "own"),
        ("shared", {"own": "revoked", "shared": "in force"}, "shared"),
        ("shared", {"own": "revoked", "shared": "revoked"}, None),
        ("shared", {"own": "revoked"}, None),
        ("personal", {"own": "revoked", "shared": "in force"}, None),
        ("personal", {"shared": "in force"}, None),
        ("shared", {}, None),
    ],
)
def test_which_password_an_answer_is_compared_with(ada, mode, stored, asked):
    Gate.objects.create(mode=mode)
    passwords = {}
    for name, state in stored.items():
        user = ada if name == "own" else None
        passwords[name] = set_password(name, user=user)
        if state == "revoked":
            revoke_gate_password(user=user)
    found = required_gate_password(ada, load_admission_facts([ada.pk])[ada.pk])
    assert found == passwords.get(asked)


def test_as_much_is_worked_where_there_is_no_password(monkeypatch):
    """Or the time would tell."""
    worked = []
    monkeypatch.setattr("chatsite.accounts.gate.passwords.make_password", worked.append)
    assert not matches_gate_password(None, RAW)
    assert worked == [RAW]
