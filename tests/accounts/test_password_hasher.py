"""Hashing: what it costs, and how much of it at once."""

from __future__ import annotations

import threading

import argon2
import pytest
from django.contrib.auth.hashers import Argon2PasswordHasher, check_password, make_password

from chatsite.accounts.password_hasher import AT_ONCE
from tests.accounts.conftest import PASSWORD
from tests.support.concurrent_users import at_once


@pytest.fixture(autouse=True)
def _as_the_site_hashes(settings, site_hashers):
    settings.PASSWORD_HASHERS = site_hashers


@pytest.fixture
def hashing_threads(monkeypatch) -> set[int]:
    """The threads that did the work. Each keeps the memory of a hash."""
    seen = set()

    def watched(work):
        return lambda *args: seen.add(threading.get_ident()) or work(*args)

    for name in ("encode", "verify"):
        monkeypatch.setattr(Argon2PasswordHasher, name, watched(getattr(Argon2PasswordHasher, name)))
    return seen


def test_forty_passwords_at_once_are_compared_by_two_threads(hashing_threads):
    stored = make_password(PASSWORD)
    assert at_once(lambda _: check_password("guess", stored), range(40)) == [False] * 40
    assert 1 <= len(hashing_threads) <= AT_ONCE == 2


def test_forty_people_without_an_account_cost_the_work_of_two_threads(hashing_threads):
    at_once(lambda _: make_password("guess"), range(40))
    assert 1 <= len(hashing_threads) <= AT_ONCE


def test_a_hash_takes_nineteen_mebibytes():
    cost = argon2.extract_parameters(make_password(PASSWORD).removeprefix("argon2"))
    assert (cost.type, cost.memory_cost, cost.time_cost, cost.parallelism) == (argon2.Type.ID, 19_456, 2, 1)


def test_an_older_hash_is_right_and_made_again():
    fresh = []
    assert check_password(PASSWORD, Argon2PasswordHasher().encode(PASSWORD, "s" * 22), setter=fresh.append)
    assert fresh == [PASSWORD]
    assert not check_password(PASSWORD, make_password(PASSWORD + "!"))
