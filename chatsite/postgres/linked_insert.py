"""New rows that name one another, stored by one statement.

Django takes a statement for each, because it has to know the id of the one before. Here the database puts it in:

    WITH row0 AS (INSERT INTO message (…) VALUES (…) RETURNING id),
         row1 AS (INSERT INTO run (…, reply_id) VALUES (…, (SELECT id FROM row0)) RETURNING id)
    SELECT row0.*, row1.* FROM row0, row1
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import Field, ForeignKey, Model
from django.db.models.expressions import DatabaseDefault


def store_together(*instances: Model) -> None:
    """Store new *instances*, of which each may refer to those before it; no signal is sent.

    Afterwards they have their ids, and what else the database has filled in. All that is written into the statement
    comes from the models; their values travel beside it.
    """
    inserts, values = [], []
    for place, instance in enumerate(instances):
        written = list(_values_of(instance, instances[:place]))
        inserts.append(f"row{place} AS ({_insert(type(instance), ', '.join(value.sql for value in written))})")
        values += [value.argument for value in written if value.sql == "%s"]
    rows = [f"row{place}" for place in range(len(instances))]
    selected = ", ".join(f"{row}.*" for row in rows)
    with connection.cursor() as cursor:
        cursor.execute(f"WITH {', '.join(inserts)} SELECT {selected} FROM {', '.join(rows)}", values)  # noqa: S608
        _fill_in(instances, iter(cursor.fetchone()))


class _Value(NamedTuple):
    """A value as it stands in the statement; where it is sent beside it, *sql* is `%s`."""

    sql: str
    argument: Any = None


def _values_of(instance: Model, before: Sequence[Model]) -> Iterator[_Value]:
    for column in _columns_of(type(instance)):
        value = column.pre_save(instance, add=True)
        if isinstance(value, DatabaseDefault):
            yield _Value("DEFAULT")
        elif (place := _place_of_named(instance, column, before)) is not None:
            yield _Value(f"(SELECT id FROM row{place})")  # noqa: S608
        else:
            argument = column.get_db_prep_save(value, connection)
            # psycopg reads a statement again and again that has more than fifty arguments.
            yield _Value("NULL") if argument is None else _Value("%s", argument)


def _place_of_named(instance: Model, column: Field[Any, Any], before: Sequence[Model]) -> int | None:
    """Return which of the rows *before* is the one that *instance* names in *column*, if it is one of them."""
    named = column.get_cached_value(instance, None) if isinstance(column, ForeignKey) else None
    return next((place for place, other in enumerate(before) if other is named), None)


def _fill_in(instances: Sequence[Model], returned: Iterator[Any]) -> None:
    for instance in instances:
        for column in type(instance)._meta.db_returning_fields:
            setattr(instance, column.attname, next(returned))
        for column in _columns_of(type(instance)):
            if isinstance(column, ForeignKey) and (named := column.get_cached_value(instance, None)):
                setattr(instance, column.attname, named.pk)
        instance._state.adding, instance._state.db = False, DEFAULT_DB_ALIAS


@cache
def _columns_of(model: type[Model]) -> tuple[Field[Any, Any], ...]:
    """Return what is written of a new row: all but the id."""
    return tuple(column for column in model._meta.concrete_fields if not column.primary_key)


def _insert(model: type[Model], values: str) -> str:
    names = ", ".join(f'"{column.column}"' for column in _columns_of(model))
    returned = ", ".join(f'"{column.column}"' for column in model._meta.db_returning_fields)
    return f"INSERT INTO {model._meta.db_table} ({names}) VALUES ({values}) RETURNING {returned}"  # noqa: S608
