"""Compiled queries: Django writes their SQL once per process, for the queries that every message makes.

Writing a query that joins five tables takes Django longer than it takes PostgreSQL to answer it, and all replies of a
process wait for one another meanwhile: only one of its threads runs Python at a time. (Not a prepared statement of
PostgreSQL: the text is sent each time.)

Uses internals of Django (`get_related_populators`, `klass_info`, `annotation_col_map`);
tests/postgres/test_django_internals.py guards it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import Model, QuerySet
from django.db.models.query import RelatedPopulator, get_related_populators

M = TypeVar("M", bound=Model)
Row = Sequence[Any]


class CompiledQuery(Generic[M]):
    """The rows of *queryset*, with all that it selects and joins; *tail* is SQL that begins with WHERE.

    The queryset joins by `select_related`. Filters and order belong into the tail, with a `%s` for each argument.
    """

    def __init__(self, queryset: QuerySet[M], tail: str) -> None:
        self._queryset = queryset
        self._tail = tail

    def first(self, *arguments: Any) -> M | None:
        return next(iter(self.all(*arguments)), None)

    def get(self, *arguments: Any) -> M:
        """Raises the model's `DoesNotExist`."""
        if (found := self.first(*arguments)) is None:
            raise self._queryset.model.DoesNotExist  # type: ignore[attr-defined]  # each model has one
        return found

    def all(self, *arguments: Any) -> list[M]:
        compiled = self._compiled
        with connection.cursor() as cursor:
            cursor.execute(compiled.sql, (*compiled.arguments, *arguments))
            rows = cursor.fetchall()
        return [compiled.make_instance(row) for row in rows]

    @cached_property
    def _compiled(self) -> _Compiled[M]:
        return _Compiled(self._queryset, self._tail)


class _Compiled(Generic[M]):
    """SQL, and how its rows become instances: as Django's own `ModelIterable` makes them."""

    def __init__(self, queryset: QuerySet[M], tail: str) -> None:
        compiler = queryset.order_by().query.get_compiler(DEFAULT_DB_ALIAS)
        sql, self.arguments = compiler.as_sql()
        self.sql = f"{sql} {tail}"
        selected, columns = compiler.select, compiler.klass_info["select_fields"]
        self._columns = slice(columns[0], columns[-1] + 1)
        self._names = [column.target.attname for column, *_ in selected[self._columns]]
        self._model: type[M] = compiler.klass_info["model"]
        populators: Callable[..., list[RelatedPopulator]] = get_related_populators
        self._related = populators(compiler.klass_info, selected, DEFAULT_DB_ALIAS)
        self._annotations: dict[str, int] = compiler.annotation_col_map
        self._converters = _column_converters(compiler)

    def make_instance(self, row: Row) -> M:
        values = list(row)
        for index, convert in self._converters:
            values[index] = convert(values[index])
        instance = self._model.from_db(DEFAULT_DB_ALIAS, self._names, values[self._columns])
        for related in self._related:
            related.populate(values, instance)
        for name, index in self._annotations.items():
            setattr(instance, name, values[index])
        return instance


def _column_converters(compiler: Any) -> list[tuple[int, Callable[[Any], Any]]]:
    """Return the columns of a row, by index, whose values have to be converted, such as JSON from text."""
    converters = compiler.get_converters([column for column, *_ in compiler.select])
    return [(index, _chain(*of_column)) for index, of_column in converters.items()]


def _chain(converters: Sequence[Callable[..., Any]], column: Any) -> Callable[[Any], Any]:
    def convert(value: Any) -> Any:
        for converter in converters:
            value = converter(value, column, connection)
        return value

    return convert
