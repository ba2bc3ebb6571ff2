"""The mark of a database whose rows were restored, and which was not compared with its backup to the end yet.

It comes in one transaction with the rows: so a restore that was killed after them is known, and the next one goes on.
It is a comment of a table of ours, which backups leave out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from django.db import connection
from psycopg import sql

from chatsite.schema.history import TABLE

SCHEMA = "public"  # pg_restore lets nothing be found without its schema
MARK = "restored, and not compared yet: "
READ = "SELECT coalesce(obj_description(to_regclass(%s), 'pg_class'), '')"
WRITE = "COMMENT ON TABLE {} IS {}"


def write_mark(contents: Mapping[str, Any]) -> str:
    """Return the statement that marks a database as restored from the backup with these *contents*."""
    return _write_statement(sql.Literal(MARK + _digest_of(contents))).as_string()


def has_mark(contents: Mapping[str, Any] | None = None) -> bool:
    """Tell whether the database is marked, as restored from the backup with these *contents* if they are given."""
    with connection.cursor() as cursor:
        cursor.execute(READ, [f"{SCHEMA}.{TABLE}"])
        [said] = cursor.fetchone()
    return bool(said.startswith(MARK) if contents is None else said == MARK + _digest_of(contents))


def delete_mark() -> None:
    with connection.cursor() as cursor:
        cursor.execute(_write_statement(sql.NULL))


def _write_statement(comment: sql.Composable) -> sql.Composed:
    return sql.SQL(WRITE).format(sql.Identifier(SCHEMA, TABLE), comment)


def _digest_of(contents: Mapping[str, Any]) -> str:
    """Return what no other backup has: *contents* hold a text that was sealed for it, each time with other bytes."""
    return hashlib.sha256(json.dumps(contents, sort_keys=True).encode()).hexdigest()
