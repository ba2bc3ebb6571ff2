"""Digests of all tables of a database, by which two are compared row by row, whichever order the rows are in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from psycopg import Connection, sql

# Of each row a number of 56 bits, of a hash that no version of PostgreSQL changes; the same rows have the same sum.
DIGEST = """
SELECT count(*), coalesce(sum(('x' || encode(
    substring(sha256(convert_to(row::text, 'UTF8')) FOR 7), 'hex'))::bit(56)::bigint), 0)
FROM {} AS row
"""
# How rows are written as text, whatever the server, the role or the database prefer.
AS_TEXT = {
    "TimeZone": "UTC",
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "bytea_output": "hex",
    "extra_float_digits": "1",
}


def digest_tables(connection: Connection, tables: Iterable[str]) -> dict[str, str]:
    """Return table → number and digest of its rows, by the present transaction."""
    for name, value in AS_TEXT.items():
        connection.execute("SELECT set_config(%s, %s, false)", [name, value])
    digests = {}
    for table in tables:
        [(rows, digest)] = connection.execute(sql.SQL(DIGEST).format(sql.Identifier(table)))
        digests[table] = f"{rows} rows, {digest}"
    return digests


def find_other_rows(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return a sentence for each table whose rows are not those it had *before*."""
    return [f"{table} has other rows" for table, digest in before.items() if after.get(table) != digest]
