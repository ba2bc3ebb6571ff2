"""Whether a database has the schema of this code: its migrations, and the tables and columns of the models.

The names of migrations alone can't tell, because until version 1.0 the initial ones are edited in place.
"""

from __future__ import annotations

from functools import cache

from django.apps import apps
from django.db.migrations.loader import MigrationLoader
from psycopg import Connection

Columns = dict[str, frozenset[str]]
COLUMNS = """
SELECT class.relname, attribute.attname, attribute.attnotnull AND NOT attribute.atthasdef AND attribute.attidentity = ''
FROM pg_class class
JOIN pg_attribute attribute ON attribute.attrelid = class.oid AND attribute.attnum > 0 AND NOT attribute.attisdropped
WHERE class.relname = ANY(%s) AND pg_table_is_visible(class.oid)
"""
OUR_PACKAGES = ("chatsite", "conversations")
OTHER_VERSION = "the database is of another version of the code"


def missing_migrations(connection: Connection) -> int:
    """Return how many migrations of this code are not applied."""
    return len(_migrations() - applied_migrations(connection))


def later_migrations(connection: Connection) -> bool:
    """Tell whether migrations of the site's own apps are applied that this code doesn't have."""
    return are_later(applied_migrations(connection))


def are_later(applied: set[tuple[str, str]]) -> bool:
    """Tell whether some of *applied* are migrations of the site's own apps that this code doesn't have."""
    ours = _own_apps()
    return any(app in ours for app, _ in applied - _migrations())


def applied_migrations(connection: Connection) -> set[tuple[str, str]]:
    [(there,)] = connection.execute("SELECT to_regclass('django_migrations') IS NOT NULL")
    return set(connection.execute("SELECT app, name FROM django_migrations")) if there else set()


def schema_difference(connection: Connection) -> str:
    """Return a sentence on the first table or column that doesn't fit this code's models; empty if all do."""
    expected = expected_columns()
    found: dict[str, set[str]] = {}
    required: dict[str, set[str]] = {}
    for table, column, is_required in connection.execute(COLUMNS, [list(expected)]):
        found.setdefault(table, set()).add(column)
        if is_required:
            required.setdefault(table, set()).add(column)
    for table, columns in expected.items():
        if table not in found:
            return f"{OTHER_VERSION}: the table {table} is missing"
        if missing := columns - found[table]:
            return f"{OTHER_VERSION}: {table} has no column {min(missing)}"
        if unknown := required.get(table, set()) - columns:
            return f"{OTHER_VERSION}: {table} needs a column {min(unknown)} that this code doesn't know"
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


@cache
def _migrations() -> set[tuple[str, str]]:
    loader = MigrationLoader(None)
    return set(loader.graph.nodes)


def _own_apps() -> set[str]:
    """Return the labels of the apps whose migrations are written here, not by a library."""
    return {app.label for app in apps.get_app_configs() if app.name.partition(".")[0] in OUR_PACKAGES}
