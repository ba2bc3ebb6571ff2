"""System checks of the database: PostgreSQL version, pgvector, reachable. Run by `migrate` and `check --database`.

| id            | the database                          |
|---------------|---------------------------------------|
| postgres.E001 | is older than PostgreSQL 15           |
| postgres.E002 | has no pgvector to offer              |
| postgres.E003 | can't be reached                      |
| postgres.E004 | is new, and has another encoding      |
| postgres.W001 | is in use, and has another encoding   |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg
from django.core.checks import WARNING, CheckMessage, Error, Tags, register
from django.db import DatabaseError, NotSupportedError, connections
from django.db.backends.base.base import BaseDatabaseWrapper

OLDEST_VERSION = 15
ENCODING = "UTF8"
NOT_ALL_LANGUAGES = "texts in other languages can't be stored, or not be searched."
MAKE_UTF8 = (
    "Make one with UTF8: CREATE DATABASE chats ENCODING 'UTF8' LOCALE 'C.UTF-8' TEMPLATE template0, and name it in "
    "DATABASE_URL."
)
CONNECT_SECONDS = 15
# A server refuses a connection without a code; which words it takes depends on its version and language.
HINTS = {
    "Another process starts": "Wait until that has ended, or stop it.",
    "embedded PostgreSQL": "See room and rights in VAR_DIR (doctor disks), and postgres.log there.",
    "authentication failed": "Correct user and password in DATABASE_URL; special characters of a password as %XX.",
    'role "': "Correct the user in DATABASE_URL.",
    "does not exist": "Correct the name in DATABASE_URL. Only for a new site make the database: CREATE DATABASE.",
    "no pg_hba.conf entry": "Let the server's pg_hba.conf admit this machine, or add sslmode=require to DATABASE_URL.",
    "connection slots": "Raise max_connections of the server, or lower DATABASE_POOL_SIZE or the number of processes.",
    "too many c": "Raise max_connections of the server, or lower DATABASE_POOL_SIZE or the number of processes.",
    "resolve host": "Correct the host in DATABASE_URL, or see whether names are resolved on this machine.",
}
UNREACHED = "See that the server runs, and that host and port in DATABASE_URL are right."
# Only of a database that is new: a site with one in use would start without its data.
OR_EMBEDDED = " Or leave DATABASE_URL empty: the embedded PostgreSQL has all that is needed."


@register(Tags.database)
def check_databases(*, databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Return the problems of the PostgreSQL databases among the aliases *databases*."""
    chosen = [connections[alias] for alias in databases or ()]
    return [problem for database in chosen if database.vendor == "postgresql" for problem in _check(database)]


def check_version(version: int, *, is_new: bool = False) -> list[CheckMessage]:
    """*version* is the major version: 15 for 15.4."""
    return [] if version >= OLDEST_VERSION else [_too_old(f"PostgreSQL {version}", is_new=is_new)]


def package_of_pgvector(version: int) -> str:
    """Say where pgvector for PostgreSQL of the major *version* comes from."""
    return (
        f"the package postgresql-{version}-pgvector, from PostgreSQL's own repository where Debian has none; the image "
        f"pgvector/pgvector:pg{version}"
    )


def check_extensions(available: set[str], version: int, *, is_new: bool = False) -> list[CheckMessage]:
    """*available* are the names of the extensions that could be or are installed in the database."""
    if "vector" in available:
        return []
    hint = f"Install it on the server ({package_of_pgvector(version)}).{OR_EMBEDDED if is_new else ''}"
    return [Error("The database server has no pgvector.", hint=hint, id="postgres.E002")]


def check_encoding(encoding: str, *, is_new: bool) -> list[CheckMessage]:
    """*encoding* is the database's; one with tables in another may have worked so far."""
    if encoding == ENCODING:
        return []
    text = f"The database has the encoding {encoding}: {NOT_ALL_LANGUAGES}"
    if is_new:
        return [Error(text, hint=MAKE_UTF8, id="postgres.E004")]
    hint = "Make a backup and restore it into a database with UTF8; docs/backups.md says how."
    return [CheckMessage(WARNING, text, hint=hint, id="postgres.W001")]


def report_failure(alias: str, error: DatabaseError) -> list[CheckMessage]:
    """Say in one sentence why the database could not be reached."""
    if isinstance(error, NotSupportedError):  # Django's own lower limit, met while connecting
        return [_too_old("This server", is_new=False)]
    reason = str(error).strip().partition("\n")[0]
    return [Error(f"The database {alias!r} can't be reached: {reason}", hint=_hint_for(reason), id="postgres.E003")]


def _hint_for(reason: str) -> str:
    return next((hint for words, hint in HINTS.items() if words in reason), UNREACHED)


def _check(database: BaseDatabaseWrapper) -> list[CheckMessage]:
    try:
        params = {"connect_timeout": CONNECT_SECONDS, **database.get_connection_params()}
        # Not through the pool, which tries again and again until its own time is over, and then does not say why.
        with database.wrap_database_errors, psycopg.connect(**params) as connection:
            version = connection.info.server_version // 10_000
            available = {name for (name,) in connection.execute("SELECT name FROM pg_available_extensions")}
            encoding = connection.info.parameter_status("server_encoding") or ENCODING
            [(is_new,)] = connection.execute("SELECT to_regclass('django_migrations') IS NULL")
    except DatabaseError as error:
        return report_failure(database.alias, error)
    return [
        *check_version(version, is_new=is_new),
        *check_extensions(available, version, is_new=is_new),
        *check_encoding(encoding, is_new=is_new),
    ]


def _too_old(subject: str, *, is_new: bool) -> CheckMessage:
    hint = f"Use PostgreSQL {OLDEST_VERSION} or later.{OR_EMBEDDED if is_new else ''}"
    return Error(f"{subject} is older than PostgreSQL {OLDEST_VERSION}.", hint=hint, id="postgres.E001")
