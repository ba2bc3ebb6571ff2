"""One world for all cells of a module: each cell's own changes are taken back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import connection, transaction

from tests.support.rendered_by_django import rendered_by_django

from .world import World


@pytest.fixture(scope="module")  # no longer: what holds locks would keep other modules from emptying the tables
def stored_world(django_db_setup: None, django_db_blocker: object) -> Iterator[World]:
    with django_db_blocker.unblock(), transaction.atomic():
        with connection.cursor() as cursor:  # reading all tables at once would start two processes for each cell
            cursor.execute("SET LOCAL max_parallel_workers_per_gather = 0")
        yield World()
        transaction.set_rollback(True)


@pytest.fixture
def world(stored_world: World, db: None, settings: object) -> World:
    settings.MESSAGES_PER_MINUTE = 0
    settings.WEB_SEARCH_URL = "http://127.0.0.1:9"  # so that it can be switched; nothing here makes a reply
    return stored_world


@pytest.fixture
def also_rendered_by_django() -> Iterator[None]:
    """Let Django's own loader of templates render each page, too, and require that it is the same."""
    differing: list[str] = []
    with rendered_by_django(differing=differing):
        yield
    assert differing == []
