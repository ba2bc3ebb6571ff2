"""The probe of the database: whether it answers, may be written to, has room, and has the schema of this code.

It has one connection of its own, because all of the pool may be in use by requests or wait for a dead network. All its
statements together take a few milliseconds.
"""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import Any

import psycopg
from django.apps import apps
from django.db import connection as django_connection
from django.db.utils import Error
from psycopg import errors, sql

from chatsite.schema.history import read_migration_history
from chatsite.schema.problems import newer_problem, schema_problem

from .probe import OK, Finding, Probe

CONNECT_SECONDS = 2  # libpq takes no less
STATEMENT_MILLISECONDS = 1000
LOCK_MILLISECONDS = 500
READ_ONLY = """
SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' OR EXISTS (
    SELECT FROM pg_db_role_setting, unnest(setconfig) AS setting
    WHERE setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
      AND setrole IN (0, (SELECT oid FROM pg_roles WHERE rolname = current_user))
      AND setting ~* '^default_transaction_read_only=(on|true|yes|1)$'
)
"""
# Its sort is larger than the memory that it may take: it writes to the disk of the data and leaves nothing there.
USE_DISK = "SELECT count(*) FROM (SELECT number FROM generate_series(1, 10000) AS number ORDER BY -number) AS sorted"
# It commits a record of a few bytes: the log of changes and what waits for its copies work. No table gets a row.
COMMIT = "SELECT pg_logical_emit_message(true, 'windowseat', '')"
# A connection that is refused has no code: of the server, of all but superusers, of a role or a database.
NO_FREE_CONNECTION = ("too many clients", "remaining connection slots", "too many connections")
NO_ANSWER = Finding("down", "the database does not answer")


class DatabaseCheck:
    """The check, with the connection that it keeps between two looks."""

    def __init__(self) -> None:
        self._connection: psycopg.Connection[Any] | None = None

    def look(self) -> Finding:
        try:
            finding = self._look_by_kept_connection() or self._look_by_new_connection()
        except (psycopg.Error, Error) as error:
            self.close()
            return Finding("down", reason_of(error))
        if finding.state == "down":
            self.close()  # the next look is at a fresh session, which sees settings that have changed
        return finding

    def _look_by_kept_connection(self) -> Finding | None:
        """Return None if there is none, or it broke: what ended it may be over."""
        if (connection := self._connection) is None:
            return None
        try:
            return _look(connection)
        except psycopg.Error:
            if not connection.broken:
                raise
            self.close()
            return None

    def _look_by_new_connection(self) -> Finding:
        self._connection = connect_briefly()
        return _look(self._connection)

    def hang_up(self) -> None:
        """End what the connection waits for, from another thread; it breaks with that."""
        connection = self._connection
        with suppress(OSError, psycopg.Error):
            if connection is not None:
                end = socket.socket(fileno=connection.fileno())
                try:
                    end.shutdown(socket.SHUT_RDWR)
                finally:
                    end.detach()  # the descriptor is the connection's

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(psycopg.Error):
                connection.close()


def database_probe(check: DatabaseCheck) -> Probe:
    return Probe("database", check.look, silence=NO_ANSWER, give_up=check.hang_up)


def connect_briefly() -> psycopg.Connection[Any]:
    """Return a connection past the pool, whose statements have a short time limit."""
    parameters = {**django_connection.get_connection_params(), "connect_timeout": CONNECT_SECONDS}
    parameters.pop("cursor_factory", None)
    connection = psycopg.connect(**parameters, autocommit=True)
    connection.execute(f"SET statement_timeout = {STATEMENT_MILLISECONDS}")
    connection.execute(f"SET lock_timeout = {LOCK_MILLISECONDS}")
    connection.execute("SET work_mem = '64kB'")
    connection.execute("SET application_name = 'windowseat health'")
    return connection


def _look(connection: psycopg.Connection[Any]) -> Finding:
    [(is_read_only,)] = connection.execute(READ_ONLY)
    if is_read_only:
        return Finding("down", "the database is read-only")
    if problem := schema_problem(connection, allows_newer=True):
        return Finding("down", problem)
    connection.execute(USE_DISK)
    connection.execute(COMMIT)
    _lock_tables(connection)
    if newer := newer_problem(read_migration_history(connection)):
        return Finding("degraded", newer)
    return OK


def _lock_tables(connection: psycopg.Connection[Any]) -> None:
    """Take the lock of a writer on all tables of the site's own, and let go: it waits where one is locked."""
    with connection.transaction():
        connection.execute(sql.SQL("LOCK TABLE {} IN ROW EXCLUSIVE MODE").format(_tables()))


def _tables() -> sql.Composed:
    names = sorted({model._meta.db_table for model in apps.get_models() if model._meta.managed})
    return sql.SQL(", ").join(map(sql.Identifier, names))


def reason_of(error: Exception) -> str:
    """Return why the database can't be used, as one sentence."""
    cause = error.__cause__ if isinstance(error, Error) and error.__cause__ else error
    if isinstance(cause, errors.DiskFull):
        return "the database's disk is full"
    if isinstance(cause, errors.LockNotAvailable):
        return "a table of the database is locked"
    if isinstance(cause, errors.InsufficientPrivilege):
        return "the database's role lacks rights to the tables"
    if isinstance(cause, errors.ReadOnlySqlTransaction):
        return "the database is read-only"
    if isinstance(cause, errors.TooManyConnections) or any(words in str(cause) for words in NO_FREE_CONNECTION):
        return "the database has no free connection"
    return NO_ANSWER.reason
