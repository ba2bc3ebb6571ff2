"""People and their browsers, for the tests of the account pages."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest
from django.core import mail
from django.test import Client

from chatsite.accounts.models import User

PASSWORD = "window seat 12A, please"


@pytest.fixture
def site_hashers(settings) -> list[str]:
    """How the site hashes, for tests that want no quick hashes."""
    return settings.PASSWORD_HASHERS


@pytest.fixture(autouse=True)
def _quick_hashes(settings, site_hashers):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


class StandingTime:
    """The time of a watch that stands."""

    def __init__(self) -> None:
        self._now = time.time()

    def time(self) -> float:
        return self._now


@pytest.fixture(autouse=True)
def _the_codes_of_apps_stay_right(monkeypatch):
    """They change every half minute, and some test would be there when they do."""
    monkeypatch.setattr("allauth.mfa.totp.internal.auth.time", StandingTime())


@pytest.fixture
def ada(db) -> User:
    return User.objects.create_user("ada@example.org", PASSWORD)


@pytest.fixture
def sign_up() -> Callable:
    def post(client: Client, email: str, password: str = PASSWORD, **headers):
        data = {"email": email, "password1": password, "password2": password}
        return client.post("/accounts/signup/", data, **headers)

    return post


@pytest.fixture
def sign_in() -> Callable:
    def post(client: Client, email: str, password: str = PASSWORD, **headers):
        return client.post("/accounts/login/", {"login": email, "password": password}, **headers)

    return post


@pytest.fixture
def mailed_path() -> Callable[[], str]:
    """Return the path of the link in the newest mail."""

    def find() -> str:
        return re.search(r"http://[^/]+(/\S+)", mail.outbox[-1].body)[1]

    return find
