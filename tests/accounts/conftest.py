"""People and their browsers, for the tests of the account pages."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest
from django.core import mail
from django.core.cache import cache
from django.db import connection
from django.test import Client

from chatsite.accounts.models import User

PASSWORD = "window seat 12A, please"
LOCK_WAITS = """
    SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()
"""


@pytest.fixture(autouse=True)
def _quick_hashes_and_fresh_limits(settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    cache.clear()


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


@pytest.fixture
def wait_for_lock_waits() -> Callable[[int], None]:
    """Wait until so many connections to the test database wait for a lock."""

    def wait(expected: int) -> None:
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            with connection.cursor() as cursor:
                # Inside a transaction PostgreSQL would show the first answer again.
                cursor.execute("SELECT pg_stat_clear_snapshot()")
                cursor.execute(LOCK_WAITS)
                if cursor.fetchone()[0] == expected:
                    return
            time.sleep(0.01)
        pytest.fail(f"{expected} connections never waited for a lock")

    return wait
