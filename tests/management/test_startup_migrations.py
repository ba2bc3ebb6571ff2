"""Two processes that start together migrate one after the other."""

import os
import re
import threading

import pytest
from django.db import connection, connections

from chatsite.schema import executor
from chatsite.schema.executor import one_process_migrates
from conversations.management import startup
from tests.support.patience import PATIENCE_SECONDS, wait_for

# Of this database: other tests that run meanwhile have theirs in the same PostgreSQL.
OUR_LOCKS = """
SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
WHERE locktype = 'advisory' AND datname = current_database()
"""
ASKING = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND query LIKE 'SELECT pg_try_advisory_lock%' AND pid <> pg_backend_pid()
"""


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
def test_the_second_says_what_it_waits_for_until_the_first_has_finished(monkeypatch, capfd):
    monkeypatch.setattr(executor, "QUIET_SECONDS", 0)
    said = []

    def read_said():
        said.append(capfd.readouterr().err)
        return "".join(said)

    with one_process_migrates(connection):
        session = connection.connection.info.backend_pid
        second = in_thread(startup.migrate)
        sentence = wait_for(read_said, "it says what it waits for")
        wait_for(is_asked_for, "someone asks for the lock")
        assert second.is_alive()
    second.join(PATIENCE_SECONDS)
    assert not second.is_alive()
    waits = r"Waiting for another process that migrates the database: windowseat migrates, process (\d+) on \S+, "
    assert re.match(f"{waits}session {session} of the database server, .*begun .* UTC\\.", sentence)[1] == str(
        os.getpid()
    )
    assert read_said().count("Waiting for") == 1


def is_asked_for():
    with connection.cursor() as cursor:
        cursor.execute(ASKING)
        return cursor.fetchone()[0]


@pytest.mark.django_db(transaction=True)
def test_the_lock_is_given_back():
    startup.migrate()
    with connection.cursor() as cursor:
        cursor.execute(OUR_LOCKS)
        assert cursor.fetchone() == (0,)
