"""INSERT of linked rows in one statement: new rows of which each may refer to those before it.

Django takes a statement for each row, because it has to know the id of the one before. Here the database fills it in:

    WITH row0 AS (INSERT INTO message (…) VALUES (…) RETURNING id),
         row1 AS (INSERT INTO run (…, reply_id) VALUES (…, (SELECT id FROM row0)) RETURNING id)
    SELECT row0.*, row1.* FROM row0, row1

With a condition each row is taken from a query that has to find something: INSERT INTO … SELECT … FROM condition.

Uses internals of Django (`db_returning_fields`, `DatabaseDefault`); tests/postgres/test_django_internals.py guards it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import BooleanField, CharField, Field, ForeignKey, Model, TextField
from django.db.models.expressions import DatabaseDefault


class Condition(NamedTuple):
    """A query that returns one row where the rows may be inserted, and none where they may not."""

    sql: str
    arguments: Sequence[Any]


class LinkedUpdate(NamedTuple):
    """An UPDATE by the same statement, FROM one of the new rows: `row0` is the first of them. It returns nothing."""

    sql: str
    arguments: Sequence[Any]


def insert_linked_rows(*instances: Model, only_if: Condition | None = None, update: LinkedUpdate | None = None) -> bool:
    """Insert new *instances*, of which each may refer to those before it; no signal is sent.

    Afterwards they have their ids and database defaults. The SQL is made of names from the models only; values are
    passed as arguments. Returns False, and inserts nothing, if the query of *only_if* finds nothing.
    """
    inserts = [f"condition AS ({only_if.sql})"] if only_if else []
    arguments = [*only_if.arguments] if only_if else []
    for index, instance in enumerate(instances):
        places = _places_of_values(instance, instances[:index], arguments)
        inserts.append(f"row{index} AS ({_insert(type(instance), places, is_conditional=only_if is not None)})")
    if update:
        inserts.append(f"updated AS ({update.sql})")
        arguments += update.arguments
    rows = [f"row{index}" for index in range(len(instances))]
    selected = ", ".join(f"{row}.*" for row in rows)
    with connection.cursor() as cursor:
        cursor.execute(f"WITH {', '.join(inserts)} SELECT {selected} FROM {', '.join(rows)}", arguments)  # noqa: S608
        returned = cursor.fetchone()
    if returned is None:
        return False
    _fill_in(instances, iter(returned))
    return True


class _Column(NamedTuple):
    """A column: its *name* in quotes, and of what Django asks its *field* for each value, what may be left out.

    A value that *is_read_plainly* is an attribute; one of exactly the type *plain* is an argument as it is.
    """

    field: Field[Any, Any]
    name: str
    is_foreign_key: bool
    is_read_plainly: bool
    plain: type | None


# Of these fields Django makes of such a value the same one again, by five calls.
PLAIN = {CharField: str, TextField: str, BooleanField: bool}


def _places_of_values(instance: Model, before: Sequence[Model], arguments: list[Any]) -> dict[str, str]:
    """Return what stands in the statement for the value of each column but those that the database fills in by itself.

    It is `%s` where the value is passed: then it is appended to *arguments*.
    """
    places = {}
    for field, name, is_foreign_key, is_read_plainly, plain in _inserted_columns(type(instance)):
        value = getattr(instance, field.attname) if is_read_plainly else field.pre_save(instance, add=True)
        if is_foreign_key and (index := _referenced_index(instance, field, before)) is not None:
            places[name] = f"(SELECT id FROM row{index})"  # noqa: S608
            continue
        if value is not None and type(value) is not plain:
            if isinstance(value, DatabaseDefault):
                continue
            value = field.get_db_prep_save(value, connection)
        places[name] = "NULL" if value is None else "%s"
        if value is not None:
            arguments.append(value)
    return places


def _referenced_index(instance: Model, column: Field[Any, Any], before: Sequence[Model]) -> int | None:
    """Return the index in *before* of the row to which *column* of *instance* refers, if it is one of them."""
    referenced = column.get_cached_value(instance, None) if before else None  # type: ignore[attr-defined]
    return next((index for index, other in enumerate(before) if other is referenced), None)


def _fill_in(instances: Sequence[Model], returned: Iterator[Any]) -> None:
    for instance in instances:
        for column in type(instance)._meta.db_returning_fields:
            setattr(instance, column.attname, next(returned))
        for field, _, is_foreign_key, _, _ in _inserted_columns(type(instance)):
            if is_foreign_key and (referenced := field.get_cached_value(instance, None)):  # type: ignore[attr-defined]
                setattr(instance, field.attname, referenced.pk)
        instance._state.adding, instance._state.db = False, DEFAULT_DB_ALIAS


@cache
def _inserted_columns(model: type[Model]) -> tuple[_Column, ...]:
    """Return all columns but the id."""
    return tuple(
        _Column(
            field,
            f'"{field.column}"',
            isinstance(field, ForeignKey),
            type(field).pre_save is Field.pre_save,
            PLAIN.get(type(field)),
        )
        for field in model._meta.concrete_fields
        if not field.primary_key
    )


def _insert(model: type[Model], places: Mapping[str, str], *, is_conditional: bool) -> str:
    names, row = ", ".join(places), ", ".join(places.values())
    source = f"SELECT {row} FROM condition" if is_conditional else f"VALUES ({row})"  # noqa: S608
    returned = ", ".join(f'"{column.column}"' for column in model._meta.db_returning_fields)
    return f"INSERT INTO {model._meta.db_table} ({names}) {source} RETURNING {returned}"
