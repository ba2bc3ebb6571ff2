"""INSERT of linked rows in one statement: new rows of which each may refer to those before it.

Django takes a statement for each row, because it has to know the id of the one before. Here the database fills it in:

    WITH row0 AS (INSERT INTO message (…) VALUES (…) RETURNING id),
         row1 AS (INSERT INTO run (…, reply_id) VALUES (…, (SELECT id FROM row0)) RETURNING id)
    SELECT row0.*, row1.* FROM row0, row1

With a condition each row is taken from a query that has to find something: INSERT INTO … SELECT … FROM condition.

Uses internals of Django (`db_returning_fields`, `DatabaseDefault`); tests/postgres/test_django_internals.py guards it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import Field, ForeignKey, Model
from django.db.models.expressions import DatabaseDefault


class Condition(NamedTuple):
    """A query that returns one row where the rows may be inserted, and none where they may not."""

    sql: str
    arguments: Sequence[Any]


def insert_linked_rows(*instances: Model, only_if: Condition | None = None) -> bool:
    """Insert new *instances*, of which each may refer to those before it; no signal is sent.

    Afterwards they have their ids and database defaults. The SQL is made of names from the models only; values are
    passed as arguments. Returns False, and inserts nothing, if the query of *only_if* finds nothing.
    """
    inserts = [f"condition AS ({only_if.sql})"] if only_if else []
    arguments = [*only_if.arguments] if only_if else []
    for index, instance in enumerate(instances):
        values = list(_column_values(instance, instances[:index]))
        inserts.append(f"row{index} AS ({_insert(type(instance), values, is_conditional=only_if is not None)})")
        arguments += [value.argument for value in values if value.sql == "%s"]
    rows = [f"row{index}" for index in range(len(instances))]
    selected = ", ".join(f"{row}.*" for row in rows)
    with connection.cursor() as cursor:
        cursor.execute(f"WITH {', '.join(inserts)} SELECT {selected} FROM {', '.join(rows)}", arguments)  # noqa: S608
        returned = cursor.fetchone()
    if returned is None:
        return False
    _fill_in(instances, iter(returned))
    return True


class _Value(NamedTuple):
    """A value of *column* as it stands in the statement; *sql* is `%s` where it is passed as *argument*."""

    column: str
    sql: str
    argument: Any = None


def _column_values(instance: Model, before: Sequence[Model]) -> Iterator[_Value]:
    """Yield the value of each column but those that the database fills in by itself."""
    for column in _inserted_columns(type(instance)):
        value, name = column.pre_save(instance, add=True), str(column.column)
        if isinstance(value, DatabaseDefault):
            continue
        if (index := _referenced_index(instance, column, before)) is not None:
            yield _Value(name, f"(SELECT id FROM row{index})")  # noqa: S608
        else:
            argument = column.get_db_prep_save(value, connection)
            # psycopg parses a statement at every execution if it has more than fifty arguments.
            yield _Value(name, "NULL") if argument is None else _Value(name, "%s", argument)


def _referenced_index(instance: Model, column: Field[Any, Any], before: Sequence[Model]) -> int | None:
    """Return the index in *before* of the row to which *column* of *instance* refers, if it is one of them."""
    referenced = column.get_cached_value(instance, None) if isinstance(column, ForeignKey) else None
    return next((index for index, other in enumerate(before) if other is referenced), None)


def _fill_in(instances: Sequence[Model], returned: Iterator[Any]) -> None:
    for instance in instances:
        for column in type(instance)._meta.db_returning_fields:
            setattr(instance, column.attname, next(returned))
        for column in _inserted_columns(type(instance)):
            if isinstance(column, ForeignKey) and (referenced := column.get_cached_value(instance, None)):
                setattr(instance, column.attname, referenced.pk)
        instance._state.adding, instance._state.db = False, DEFAULT_DB_ALIAS


@cache
def _inserted_columns(model: type[Model]) -> tuple[Field[Any, Any], ...]:
    """Return all columns but the id."""
    return tuple(column for column in model._meta.concrete_fields if not column.primary_key)


def _insert(model: type[Model], values: Sequence[_Value], *, is_conditional: bool) -> str:
    names = ", ".join(f'"{value.column}"' for value in values)
    row = ", ".join(value.sql for value in values)
    source = f"SELECT {row} FROM condition" if is_conditional else f"VALUES ({row})"  # noqa: S608
    returned = ", ".join(f'"{column.column}"' for column in model._meta.db_returning_fields)
    return f"INSERT INTO {model._meta.db_table} ({names}) {source} RETURNING {returned}"
