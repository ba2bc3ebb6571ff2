"""Whether a database has the tables and columns of this code's models."""

from __future__ import annotations

from functools import cache

from django.apps import apps
from psycopg import Connection

Columns = dict[str, frozenset[str]]
COLUMNS = """
SELECT class.relname, attribute.attname, attribute.attnotnull AND NOT attribute.atthasdef AND attribute.attidentity = ''
FROM pg_class class
JOIN pg_attribute attribute ON attribute.attrelid = class.oid AND attribute.attnum > 0 AND NOT attribute.attisdropped
WHERE class.relname = ANY(%s) AND pg_table_is_visible(class.oid)
"""


def schema_difference(connection: Connection) -> str:
    """Return a clause on the first table or column that doesn't fit this code's models; empty if all do."""
    expected = expected_columns()
    found: dict[str, set[str]] = {}
    required: dict[str, set[str]] = {}
    for table, column, is_required in connection.execute(COLUMNS, [list(expected)]):
        found.setdefault(table, set()).add(column)
        if is_required:
            required.setdefault(table, set()).add(column)
    for table, columns in expected.items():
        if table not in found:
            return f"the table {table} is missing"
        if missing := columns - found[table]:
            return f"{table} has no column {min(missing)}"
        if unknown := required.get(table, set()) - columns:
            return f"{table} needs a column {min(unknown)} that this code doesn't know"
    return ""


@cache
def expected_columns() -> Columns:
    """Return table → columns of all models."""
    models = [model for model in apps.get_models(include_auto_created=True) if model._meta.managed]
    return {
        model._meta.db_table: frozenset(field.column for field in model._meta.local_concrete_fields if field.column)
        for model in models
        if not model._meta.proxy
    }
