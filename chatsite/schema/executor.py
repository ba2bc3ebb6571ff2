"""Migrate under traffic: one process at a time, short waits for locks, and after a kill from where it ended.

A statement that waits for a table's exclusive lock makes all who come later wait behind it, readers too. So it waits
for LOCK_SECONDS at most; then the migration is rolled back, the others go on, and it is tried again.

A migration is noted in the transaction that makes it. Django notes it before its deferred statements, or after the
transaction: killed between, a database has neither the one state nor the other. One that is `atomic = False` is noted
when it begins, too, and is begun again until it has ended: it is made of the operations of `operations.py`, which can
be repeated.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from django.core.management.commands import migrate as django_command
from django.db import DatabaseError, OperationalError, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations import Migration
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.state import ProjectState
from psycopg.errors import DeadlockDetected, LockNotAvailable

from chatsite.version import product_version

from .history import CREATE_TABLE, TABLE, own_checksums

MIGRATION_LOCK = 0x57494E44  # "WIND"; any number that no one else locks in this database
LOCK_SECONDS = 1.0
PAUSE_SECONDS = 1.0  # so that those who had to wait for a statement that gave up are through before the next
TRIES = 120
EXECUTOR = "MigrationExecutor"  # what the command calls it
POLL_SECONDS = 0.2
QUIET_SECONDS = 2.0  # a process that waits for another one that migrates says so after these
CLIENT_CHECK_SECONDS = 1.0  # a statement ends so soon after its process was killed
# Begun again, one of several transactions goes on where it was, and one of a single transaction is made afresh.
BEGIN = f"""
INSERT INTO {TABLE} AS row (app, name, checksum, version, began_at) VALUES (%s, %s, %s, %s, clock_timestamp())
ON CONFLICT (app, name) DO UPDATE SET checksum = excluded.checksum, version = excluded.version, ended_at = NULL,
    began_at = CASE WHEN row.ended_at IS NULL THEN row.began_at ELSE excluded.began_at END,
    progress = CASE WHEN row.ended_at IS NULL THEN row.progress ELSE '{{}}' END
"""  # noqa: S608 -- a constant
END = f"UPDATE {TABLE} SET ended_at = clock_timestamp() WHERE app = %s AND name = %s"  # noqa: S608
FORGET = f"DELETE FROM {TABLE} WHERE app = %s AND name = %s"  # noqa: S608
NAME_SESSION = "SELECT set_config('application_name', %s, false)"
# What a role may not see of other roles' sessions is NULL.
HOLDER = """
SELECT pid, application_name, host(client_addr), to_char(backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI')
FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE locktype = 'advisory' AND granted AND (classid, objid, objsubid) = (0, %s, 1)
AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
LONGEST_HOST = 30  # of the 63 bytes that a session's name has


class MigrationBlocked(Exception):
    """A lock that a migration needs was not free for long: the message says which migration, and what to do."""


class RecordedMigrationExecutor(MigrationExecutor):
    """Django's executor, which notes in the history what it applies."""

    def apply_migration(
        self, state: ProjectState, migration: Migration, fake: bool = False, fake_initial: bool = False
    ) -> ProjectState:
        if fake or fake_initial:
            state = super().apply_migration(state, migration, fake, fake_initial)
            self._note_begin(migration)
            self._note_end(migration)
            return state
        self._tell("apply_start", migration)
        state = self._apply_once_locks_are_free(state, migration)
        self._tell("apply_success", migration)
        return state

    def unapply_migration(self, state: ProjectState, migration: Migration, fake: bool = False) -> ProjectState:
        state = super().unapply_migration(state, migration, fake)
        self._execute(FORGET, migration.app_label, migration.name)
        return state

    def _apply_once_locks_are_free(self, state: ProjectState, migration: Migration) -> ProjectState:
        for number in range(TRIES):
            if number:
                time.sleep(PAUSE_SECONDS)
            try:
                return self._apply(state.clone(), migration)
            except OperationalError as error:
                if not isinstance(error.__cause__, LockNotAvailable | DeadlockDetected):
                    raise
        raise MigrationBlocked(
            f"The migration {migration} waited {TRIES} times for a lock that another session holds. See in "
            "pg_stat_activity which transaction is old and end it, then start again: nothing is half done."
        )

    def _apply(self, state: ProjectState, migration: Migration) -> ProjectState:
        if not migration.atomic:
            self._note_begin(migration)
            with self.connection.schema_editor(atomic=False) as editor:
                state = migration.apply(state, editor)
            with transaction.atomic(using=self.connection.alias):
                self._note_end(migration)
                self._note_for_django(migration)
            return state
        with self.connection.schema_editor(atomic=True) as editor:
            self._note_begin(migration)
            state = migration.apply(state, editor)
            for statement in editor.deferred_sql:
                editor.execute(statement, None)
            editor.deferred_sql.clear()
            self._note_end(migration)
            self._note_for_django(migration)
        return state

    def _note_for_django(self, migration: Migration) -> None:
        self.record_migration(migration)  # type: ignore[call-arg,arg-type]  # its stubs are of an older Django

    def _note_begin(self, migration: Migration) -> None:
        checksum = own_checksums().get((migration.app_label, migration.name), "")
        self._execute(BEGIN, migration.app_label, migration.name, checksum, product_version())

    def _note_end(self, migration: Migration) -> None:
        self._execute(END, migration.app_label, migration.name)

    def _execute(self, statement: str, *parameters: str) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute(statement, parameters)

    def _tell(self, what: str, migration: Migration) -> None:
        if self.progress_callback:
            self.progress_callback(what, migration, False)


@contextmanager
def one_process_migrates(
    connection: BaseDatabaseWrapper, *, tell: Callable[[str], object] = lambda sentence: None
) -> Iterator[None]:
    """Let one process at a time migrate the database, and *tell* a person which one is waited for.

    The lock ends with the session: a killed process holds none. It is asked for again and again. A statement that
    waited for it would be waited for by `CREATE INDEX CONCURRENTLY` of the process that holds it.
    """
    with connection.cursor() as cursor:
        _wait_for_turn(cursor, tell)
        cursor.execute(NAME_SESSION, [f"windowseat migrates, process {os.getpid()} on {_host()}"])
        try:
            yield
        finally:
            with suppress(DatabaseError):  # the session is gone, and its lock with it
                cursor.execute("SELECT pg_advisory_unlock(%s)", [MIGRATION_LOCK])
                cursor.execute("RESET application_name")


def _wait_for_turn(cursor: Any, tell: Callable[[str], object]) -> None:
    began, told = time.monotonic(), ""
    while not _answer(cursor, "SELECT pg_try_advisory_lock(%s)", MIGRATION_LOCK):
        if time.monotonic() - began >= QUIET_SECONDS:
            cursor.execute(HOLDER, [MIGRATION_LOCK])
            holder = cursor.fetchone()
            if holder and (sentence := _say_who_migrates(*holder)) != told:
                tell(sentence)
                told = sentence
        time.sleep(POLL_SECONDS)


def _say_who_migrates(pid: int, name: str | None, host: str | None, began_at: str | None) -> str:
    """*pid* is that of the server's process; its session is named as `one_process_migrates` names it."""
    session = [f"session {pid} of the database server", host and f"from {host}", began_at and f"begun {began_at} UTC"]
    who = ", ".join(filter(None, [name, *session]))
    return f"Waiting for another process that migrates the database: {who}. This one goes on when that has ended."


def _host() -> str:
    return socket.gethostname()[:LONGEST_HOST]


@contextmanager
def recorded_migrations(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """Let Django's command `migrate` use this executor, with its limits, on *connection*."""
    limits = {"lock_timeout": LOCK_SECONDS, "client_connection_check_interval": CLIENT_CHECK_SECONDS}
    with connection.cursor() as cursor:
        for name, seconds in limits.items():
            cursor.execute(f"SET {name} = {seconds * 1000:.0f}")
        cursor.execute(CREATE_TABLE)
        setattr(django_command, EXECUTOR, RecordedMigrationExecutor)  # it has no other way in
        try:
            yield
        finally:
            setattr(django_command, EXECUTOR, MigrationExecutor)
            with suppress(DatabaseError):
                for name in limits:
                    cursor.execute(f"RESET {name}")


def _answer(cursor: Any, statement: str, *parameters: object) -> Any:
    cursor.execute(statement, parameters)
    return cursor.fetchone()[0]
