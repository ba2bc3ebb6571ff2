"""Databases that others are copied from: made once for all processes of a run, and for later runs of the same code.

    migrated  as its migrations leave one: for the tests' own databases
    used      with the default scenario as well: for whole sites

To migrate takes seconds, to copy takes a tenth of one. Which code a database is of stands in its name. A process that
uses it holds a lock, so that none is dropped meanwhile; those of other code are, before new ones are made.
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

PREFIX = "prepared_"
MADE_FROM = ("requirements.lock", "tests/faults/prepare_database.py", "chatsite/**/*.py", "conversations/**/*.py")
Session = psycopg.Connection[tuple[Any, ...]]


@dataclass(frozen=True)
class PreparedDatabases:
    migrated: Database
    used: Database


@contextmanager
def prepared_databases(server: Database) -> Iterator[PreparedDatabases]:
    """Yield those of the code as it is. On a server that is not the tests' own, the last process drops them."""
    used = PREFIX + fingerprint()
    migrated = f"{used}_migrated"
    with psycopg.connect(dbname=server.name, autocommit=True, **server.address) as session:
        with one_at_a_time(session):
            session.execute("SELECT pg_advisory_lock_shared(hashtext(%s))", [used])
            if used not in names(session):
                drop_unused(session, server)
                make(server, used=used, migrated=migrated)
        yield PreparedDatabases(migrated=Database(migrated, server.address), used=Database(used, server.address))
        if not unflushed_postgres.is_ours():
            with one_at_a_time(session):
                session.execute("SELECT pg_advisory_unlock_shared(hashtext(%s))", [used])
                drop_unused(session, server)


def fingerprint() -> str:
    """Return what is another for databases of other code."""
    digest = hashlib.sha256()
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
    found = session.execute("SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [PREFIX])
    return [name for (name,) in found]


def drop_unused(session: Session, server: Database) -> None:
    """Drop all that no process uses, those among them that were not finished."""
    for name in names(session):
        used = "_".join(name.split("_")[:2])
        if session.execute("SELECT pg_try_advisory_lock(hashtext(%s))", [used]).fetchone() == (True,):
            drop_database(server, name)
            session.execute("SELECT pg_advisory_unlock(hashtext(%s))", [used])


def make(server: Database, *, used: str, migrated: str) -> None:
    """Make both. The first that is there at the end is *used*: before, they are not finished."""
    unfinished = f"{used}_unfinished"
    server.rows(statement("CREATE DATABASE {}", unfinished))
    prepare(Database(unfinished, server.address), migrated=migrated)
    server.rows(statement("ALTER DATABASE {} RENAME TO {}", unfinished, used))
