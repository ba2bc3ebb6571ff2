"""Who opens the admin in these tests, and how many queries a page takes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chatsite.accounts.models import User
from tests.admin.stored import make_person


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client


@pytest.fixture
def superuser(db: None) -> User:
    return make_person("ada", role="admin")


@pytest.fixture
def alice(db: None) -> User:
    return make_person("alice")


@pytest.fixture
def admin_browser(superuser: User) -> Client:
    return signed_in(superuser)


@pytest.fixture
def reviewer_browser(db: None) -> Client:
    return signed_in(make_person("grace", role="reviewer"))


@pytest.fixture
def queries_for(admin_browser: Client) -> Callable[[str], int]:
    """Return what counts the queries of a page, once all caches are warm."""

    def count(url: str) -> int:
        assert admin_browser.get(url).status_code == 200
        with CaptureQueriesContext(connection) as queries:
            admin_browser.get(url)
        return len(queries)

    return count
