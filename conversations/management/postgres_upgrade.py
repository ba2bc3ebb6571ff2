"""Copy the site's database from an embedded PostgreSQL of an earlier major version into one of this version.

    old data, their own programs ── pg_dump ─────▶ psql, one transaction ── new data folder
                                  └── digests of all tables, triggers, sequences: compared ──┘

How folders, locks and kills are dealt with is in `chatsite/postgres/embedded/version_upgrade.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
from psycopg import Connection

from chatsite.backups.backup_file import PART_BYTES
from chatsite.backups.database_copy import DatabaseCopyFailed, dump_database, restore_database
from chatsite.backups.table_digests import digest_tables, find_other_rows
from chatsite.postgres.embedded.server import DATABASE, EmbeddedServer
from conversations.management.backups import ONE_MOMENT, OTHER_EXTENSIONS
from conversations.management.database_contents import TABLES, TRIGGERS

SEQUENCES = "SELECT schemaname || '.' || sequencename || ' ' || coalesce(last_value, 0) FROM pg_sequences ORDER BY 1"
OTHER_DATABASES = """
SELECT datname FROM pg_database WHERE NOT datistemplate AND datname NOT IN ('postgres', %s) ORDER BY 1
"""


def copy_database(before: EmbeddedServer, after: EmbeddedServer, *, tell: Callable[[str], object]) -> None:
    """Fill the database of *after* from *before*, and compare them. Raises `DatabaseCopyFailed`."""
    source, target = _address(before), _address(after)
    with psycopg.connect(**source) as there:
        for statement in ONE_MOMENT:
            there.execute(statement)
        [(snapshot,)] = there.execute("SELECT pg_export_snapshot()")
        if others := [name for (name,) in there.execute(OTHER_DATABASES, [DATABASE])]:
            tell(f"Only the site's database is copied, not: {', '.join(others)}")
        left_out = [name for (name,) in there.execute(OTHER_EXTENSIONS)]
        tell("Copying the database")
        restore_database(
            target,
            dump_database(source, snapshot=snapshot, part_bytes=PART_BYTES, without_extensions=left_out),
        )
        tell("Comparing all rows")
        with psycopg.connect(**target) as here:
            here.execute("ANALYZE")
            if wrong := _find_differences(there, here):
                raise DatabaseCopyFailed(f"The copy is not as it should be: {'; '.join(wrong)}")


def _address(server: EmbeddedServer) -> dict[str, Any]:
    named = server.connection_settings()
    return {"host": named["HOST"], "port": named["PORT"], "user": named["USER"], "dbname": DATABASE}


def _find_differences(there: Connection, here: Connection) -> list[str]:
    """Return a sentence for each table whose rows are not the same, and for missing triggers and sequences."""
    tables = [name for (name,) in there.execute(TABLES)]
    found = {name for (name,) in here.execute(TABLES)}
    wrong = [f"the table {name} is missing" for name in tables if name not in found]
    if wrong:
        return wrong
    wrong = find_other_rows(digest_tables(there, tables), digest_tables(here, tables))
    for what, statement in (("trigger", TRIGGERS), ("sequence", SEQUENCES)):
        missing = {name for (name,) in there.execute(statement)} - {name for (name,) in here.execute(statement)}
        wrong += [f"the {what} {name} is missing" for name in sorted(missing)]
    return wrong
