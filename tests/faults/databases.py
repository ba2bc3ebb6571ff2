"""Databases for the sites under test: copies of a prepared one, on the PostgreSQL that all tests use."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote, urlencode

import psycopg
from django.db import connections
from psycopg import sql
from psycopg.rows import dict_row

from tests.support import unflushed_postgres
from tests.support.patience import wait_for
from tests.support.source import PROJECT

LIBPQ_NAMES = ("host", "port", "user", "password")
# Of the site and the tests alone: to end an autovacuum takes a right that their role has not.
TERMINATE = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = %s AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""


class Database:
    """One database, seen from the test: *url* is for the site."""

    def __init__(self, name: str, address: dict[str, str]) -> None:
        self.name, self.address = name, address

    @property
    def url(self) -> str:
        user = quote(self.address["user"], safe="")
        options = {name: self.address[name] for name in ("host", "port", "password") if self.address.get(name)}
        return f"postgresql://{user}@/{self.name}?{urlencode(options, quote_via=quote)}"

    def rows(self, statement: str, *parameters: Any) -> list[dict[str, Any]]:
        """Run *statement* in a connection of its own, which a killed server can't spoil, and return its rows."""
        with psycopg.connect(dbname=self.name, autocommit=True, row_factory=dict_row, **self.address) as connection:
            cursor = connection.execute(statement, parameters)
            return cursor.fetchall() if cursor.description else []

    def value(self, statement: str, *parameters: Any) -> Any:
        [row] = self.rows(statement, *parameters)
        [value] = row.values()
        return value


def server_address() -> dict[str, str]:
    """Return where the tests' PostgreSQL is: the embedded one is started for it."""
    parameters = connections["default"].get_connection_params()
    unflushed_postgres.skip_flushing()
    return {name: str(parameters[name]) for name in LIBPQ_NAMES if parameters.get(name)}


@contextmanager
def new_database(server: Database, *, template: str = "template1", encoding: str = "UTF8") -> Iterator[Database]:
    """Make a database, and drop it with all its connections afterwards."""
    name = f"faults_{uuid.uuid4().hex[:12]}"
    locale = "" if encoding == "UTF8" else f" ENCODING {encoding} LOCALE 'C' LOCALE_PROVIDER libc"
    server.rows(statement("CREATE DATABASE {} TEMPLATE {}", name, template) + locale)
    try:
        yield Database(name, server.address)
    finally:
        drop_database(server, name)


def drop_database(server: Database, name: str) -> None:
    """Drop the database of that *name* with all its connections."""
    wait_for(lambda: _drop(server, name), f"autovacuum leaves {name}")


def _drop(server: Database, name: str) -> bool:
    """Drop it; False while autovacuum is in it, whose process only a superuser may end."""
    try:
        server.rows(statement("DROP DATABASE {} WITH (FORCE)", name))
    except psycopg.errors.InsufficientPrivilege:
        return False
    return True


def prepare(database: Database, *, migrated: str = "") -> None:
    """Let *database* be as a site leaves it that has been used. One named *migrated* is made as it was before."""
    subprocess.run(
        [sys.executable, "-m", "tests.faults.prepare_database", *filter(None, [migrated])],
        cwd=PROJECT,
        env=os.environ | {"DATABASE_URL": database.url, "DJANGO_SETTINGS_MODULE": "chatsite.settings"},
        check=True,
        timeout=120,
    )


def statement(template: str, *names: str) -> str:
    """Return *template* with quoted *names* in it."""
    return sql.SQL(template).format(*map(sql.Identifier, names)).as_string()
