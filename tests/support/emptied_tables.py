"""Empty the database after a test that commits: delete the few rows there are, where Django truncates all tables.

TRUNCATE gives every table and index a new file, whether there was a row in it or not, and Django then makes all content
types and permissions again. What migrating wrote about the models stays here.
"""

from __future__ import annotations

from functools import cache

from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.db import connection, transaction
from django.test import TransactionTestCase

KEPT = {model._meta.db_table for model in (ContentType, Permission)}
LARGE_BYTES = 1_000_000  # to delete so many rows, or pass by so many deleted ones, takes longer than to truncate
# The tables that lose no row otherwise: see chatsite.postgres.append_only and the migration `_ledger_stays`.
LET_ROWS_GO = "SET LOCAL chatsite.log_may_change = 'on'; SET LOCAL conversations.ledger_may_change = 'on'; "


def install() -> None:
    """Let the tests that commit end with it."""
    TransactionTestCase._fixture_teardown = lambda test: empty_tables()


def empty_tables() -> None:
    """Delete all rows of all models."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_ask_what_there_is())
        filled, must_truncate = cursor.fetchone()
        if must_truncate:
            cursor.execute(f"TRUNCATE {', '.join(_tables())}")
        elif filled:
            delete = ";".join(f"DELETE FROM {table}" for table in filled)
            # Triggers that wait for the end of the transaction write rows, too: an ended run releases its reservation.
            cursor.execute(f"{LET_ROWS_GO} {delete}; SET CONSTRAINTS ALL IMMEDIATE; {delete}")


@cache
def _tables() -> tuple[str, ...]:
    names = set(connection.introspection.django_table_names(only_existing=True, include_views=False)) - KEPT
    return tuple(f'"{name}"' for name in sorted(names))


@cache
def _ask_what_there_is() -> str:
    """Return the statement that asks for the tables with rows in them, and whether any must be truncated.

    One that has grown must, and one that was counted, by autovacuum mostly: PostgreSQL keeps plans for checking foreign
    keys, and those for a table that it knows to be empty go through all rows of a later one each time.
    """
    filled = " UNION ALL ".join(f"SELECT '{table}' AS name WHERE EXISTS (SELECT FROM {table})" for table in _tables())
    those = ", ".join(f"'{table}'::regclass" for table in _tables())
    must = f"SELECT FROM pg_class WHERE oid IN ({those}) AND (reltuples >= 0 OR pg_relation_size(oid) > {LARGE_BYTES})"
    return f"SELECT (SELECT array_agg(name) FROM ({filled}) AS tables), EXISTS ({must})"
