"""Databases that others are copied from: made once for all processes of a run, and for later runs of the same code.

    migrated  as its migrations leave one: for the tests' own databases
    used      with the default scenario as well: for whole sites

To migrate takes seconds, to copy takes a tenth of one. Which code a database is of, and whose role made it, stands in
its name. A process that uses it holds a lock, so that none is dropped meanwhile; those of other code are, before new
ones are made. Nothing else is ever dropped: the server may be one with databases that people need.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg

from tests.support import unflushed_postgres
from tests.support.source import PROJECT

from .databases import Database, drop_database, prepare, statement

PREFIX = "windowseat_tests_"
MADE_FROM = ("requirements.lock", "tests/faults/prepare_database.py", "chatsite/**/*.py", "conversations/**/*.py")
# Of this role alone: it can neither copy nor drop those of another.
FIND = """
SELECT datname FROM pg_database
WHERE datname ~ ('^' || %s || '[0-9a-f]{16}(_migrated|_unfinished)?$') AND pg_get_userbyid(datdba) = current_user
ORDER BY datname
"""
Session = psycopg.Connection[tuple[Any, ...]]


@dataclass(frozen=True)
class PreparedDatabases:
    migrated: Database
    used: Database


@contextmanager
def prepared_databases(server: Database) -> Iterator[PreparedDatabases]:
    """Yield those of the code as it is. On a server that is not the tests' own, the last process drops them."""
    used = PREFIX + fingerprint(server.address["user"])
    migrated = f"{used}_migrated"
    with psycopg.connect(dbname=server.name, autocommit=True, **server.address) as session:
        with one_at_a_time(session):
            session.execute("SELECT pg_advisory_lock_shared(hashtext(%s))", [used])
            if used not in names(session):
                drop_unused(session, server)
                make(server, used=used, migrated=migrated)
        yield PreparedDatabases(migrated=Database(migrated, server.address), used=Database(used, server.address))
        # The session's end would do it, too, but a moment after the session was closed here.
        session.execute("SELECT pg_advisory_unlock_shared(hashtext(%s))", [used])
        if not unflushed_postgres.is_ours():
            with one_at_a_time(session):
                drop_unused(session, server)


def fingerprint(role: str) -> str:
    """Return what is another for databases of other code, or of another role."""
    digest = hashlib.sha256(f"{role}\n".encode())
    for pattern in MADE_FROM:
        for path in sorted(PROJECT.glob(pattern)):
            digest.update(f"{path.relative_to(PROJECT)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()[:16]


@contextmanager
def one_at_a_time(session: Session) -> Iterator[None]:
    """Let no other process make or drop any, or begin to use one, within."""
    session.execute("SELECT pg_advisory_lock(hashtext(%s))", [PREFIX])
    try:
        yield
    finally:
        session.execute("SELECT pg_advisory_unlock(hashtext(%s))", [PREFIX])


def names(session: Session) -> list[str]:
    """Return those that are there; of the same code *used* comes first."""
    return [name for (name,) in session.execute(FIND, [PREFIX])]


def drop_unused(session: Session, server: Database) -> None:
    """Drop all that no process uses, those among them that were not finished.

    *used* goes first: a process that is killed here leaves none that looks finished.
    """
    for name in names(session):
        used = name.removesuffix("_migrated").removesuffix("_unfinished")
        if session.execute("SELECT pg_try_advisory_lock(hashtext(%s))", [used]).fetchone() == (True,):
            drop_database(server, name)
            session.execute("SELECT pg_advisory_unlock(hashtext(%s))", [used])


def make(server: Database, *, used: str, migrated: str) -> None:
    """Make both. The first that is there at the end is *used*: before, they are not finished."""
    unfinished = f"{used}_unfinished"
    server.rows(statement("CREATE DATABASE {}", unfinished))
    prepare(Database(unfinished, server.address), migrated=migrated)
    server.rows(statement("ALTER DATABASE {} RENAME TO {}", unfinished, used))
