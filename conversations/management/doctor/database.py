"""The database: reachable, of a version with pgvector and of this code's schema, with connections left."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.core.checks import ERROR, CheckMessage
from psycopg import Error as PsycopgError

from chatsite.checkup import Line
from chatsite.health.database_probe import DatabaseCheck, connect_briefly, reason_of
from chatsite.postgres.checks import check_databases

from .options import Options

SUBJECT = "database"
AWAY = "This is not known while the database can't be used."
# What a schema is lacking says itself what to do.
FAULT_ADVICE = {
    "read-only": "DATABASE_URL has to name the primary, for instance by target_session_attrs=read-write.",
    "disk": "Make room where PostgreSQL keeps its data; nothing is lost.",
    "connection": "Raise max_connections of the server, or lower DATABASE_POOL_SIZE or the number of processes.",
    "rights": "Name the role in DATABASE_URL that made the tables, or grant this one all rights to them.",
    "locked": "Look for a session in pg_stat_activity that holds the lock, such as a migration, and wait or end it.",
}
CONNECTIONS = """
SELECT (SELECT sum(CASE name WHEN 'max_connections' THEN setting::int ELSE -setting::int END) FROM pg_settings
        WHERE name IN ('max_connections', 'superuser_reserved_connections', 'reserved_connections')),
       (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')
"""
VECTOR = "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
SPARE_CONNECTIONS = 5


def embedded_folder() -> Path | None:
    """Return the data folder of the embedded PostgreSQL; None where the site has another."""
    folder = settings.DATABASES["default"].get("EMBEDDED_DIR")
    return Path(folder) if folder else None


def is_still_to_be_made() -> bool:
    """Tell whether the first start is still to make the embedded database: to look must not."""
    folder = embedded_folder()
    return folder is not None and not (folder / "PG_VERSION").exists()


def check_database(options: Options) -> Iterator[Line]:
    try:
        yield from _check()
    except OSError as error:
        text = f"The data in {embedded_folder()} can't be read: {error.strerror or error}."
        yield Line("bad", SUBJECT, text, "Make the folder and all in it belong to the account that the site runs as.")


def _check() -> Iterator[Line]:
    if is_still_to_be_made():
        text = f"There is no database in {embedded_folder()} yet."
        yield Line("look", SUBJECT, text, "Start the site, which makes one; or set DATABASE_URL, or restore a backup.")
        return
    problems = check_databases(databases=["default"])
    yield from map(_line_of, problems)
    if not any(problem.level >= ERROR for problem in problems):
        yield from _check_answers()


def _line_of(problem: CheckMessage) -> Line:
    return Line("bad" if problem.level >= ERROR else "look", SUBJECT, str(problem.msg), problem.hint or "")


def _check_answers() -> Iterator[Line]:
    try:
        yield from _check_server()
    except PsycopgError as error:  # of a disk that is full, one asks for the rest in vain
        yield _line_of_reason("down", reason_of(error))
        return
    yield from _check_schema()


def _check_server() -> Iterator[Line]:
    with connect_briefly() as connection:
        began = time.monotonic()
        vector = connection.execute(VECTOR).fetchone()
        milliseconds = (time.monotonic() - began) * 1000
        version = connection.info.server_version
        allowed, used = connection.execute(CONNECTIONS).fetchone() or (0, 0)
    where = "The embedded PostgreSQL" if embedded_folder() else "PostgreSQL"
    extension = f" with pgvector {vector[0]}" if vector else ""
    yield Line(
        "ok", SUBJECT, f"{where} {version // 10_000}.{version % 10_000}{extension} answers in {milliseconds:.0f} ms."
    )
    yield _check_connections(allowed, used)


def _check_schema() -> Iterator[Line]:
    """Yield what `/readyz` says of it."""
    check = DatabaseCheck()
    try:
        found = check.look()
    finally:
        check.close()
    if found.state == "ok":
        yield Line("ok", SUBJECT, "It can be written to, and has the tables and columns of this version.")
        return
    yield _line_of_reason(found.state, found.reason)


def _line_of_reason(state: str, reason: str) -> Line:
    text = f"{reason[0].upper()}{reason[1:]}".rstrip(".") + "."
    advice = next((advice for words, advice in FAULT_ADVICE.items() if words in reason), "")
    return Line("bad" if state == "down" else "look", SUBJECT, text, advice)


def _check_connections(allowed: int, used: int) -> Line:
    wanted = (settings.PROCESSES + settings.RUN_WORKER) * (settings.DATABASE_POOL_SIZE + 1)
    told = f"It takes {allowed} connections, {used} are in use, and this site may want up to {wanted}."
    if allowed - used < SPARE_CONNECTIONS or allowed < wanted:
        return Line("look", SUBJECT, told, FAULT_ADVICE["connection"])
    return Line("ok", SUBJECT, told)
