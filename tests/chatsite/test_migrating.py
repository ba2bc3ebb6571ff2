"""Two processes that start together migrate one after the other."""

import threading

import pytest
from django.db import connection, connections

from chatsite import migrating


def in_thread(function):
    """Run it on a connection of its own, as another process would."""

    def run():
        try:
            function()
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


@pytest.mark.django_db(transaction=True)
def test_the_second_waits_until_the_first_has_finished():
    with migrating._advisory_lock(migrating.LOCK_ID):
        second = in_thread(migrating.migrate)
        wait_until_someone_waits()
        assert second.is_alive()
    second.join(timeout=30)
    assert not second.is_alive()


def wait_until_someone_waits():
    with connection.cursor() as cursor:
        for _ in range(3000):
            cursor.execute("SELECT count(*), pg_sleep(0.01) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
            if cursor.fetchone()[0]:
                return
    raise AssertionError("no one waits for the lock")


@pytest.mark.django_db(transaction=True)
def test_the_lock_is_given_back():
    migrating.migrate()
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'")
        assert cursor.fetchone() == (0,)
