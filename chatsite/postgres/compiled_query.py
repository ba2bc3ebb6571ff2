"""Queries whose SQL Django writes once, for what every message asks.

Writing a query that joins five tables takes Django longer than it takes PostgreSQL to answer it, and all replies of a
process wait for one another meanwhile: only one of its threads runs Python at a time.
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


class Prepared(Generic[M]):
    """The rows of *queryset*, with all that it selects and joins; *tail* is SQL that begins with WHERE.

    A queryset joins by `select_related`. What it filters or orders by itself is not meant to be in it: the tail says
    that, with a `%s` for each argument.
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
        written = self._written
        with connection.cursor() as cursor:
            cursor.execute(written.sql, (*written.arguments, *arguments))
            rows = cursor.fetchall()
        return [written.instance_of(row) for row in rows]

    @cached_property
    def _written(self) -> _Written[M]:
        return _Written(self._queryset, self._tail)


class _Written(Generic[M]):
    """A query as it is sent, and how its rows become instances: as Django's own `ModelIterable` makes them."""

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
        self._converters = _converters_of(compiler)

    def instance_of(self, row: Row) -> M:
        values = list(row)
        for place, convert in self._converters:
            values[place] = convert(values[place])
        instance = self._model.from_db(DEFAULT_DB_ALIAS, self._names, values[self._columns])
        for related in self._related:
            related.populate(values, instance)
        for name, place in self._annotations.items():
            setattr(instance, name, values[place])
        return instance


def _converters_of(compiler: Any) -> list[tuple[int, Callable[[Any], Any]]]:
    """Return what has to be done to the values at some places of a row, such as reading JSON."""
    converters = compiler.get_converters([column for column, *_ in compiler.select])
    return [(place, _one_after_the_other(*of_place)) for place, of_place in converters.items()]


def _one_after_the_other(converters: Sequence[Callable[..., Any]], column: Any) -> Callable[[Any], Any]:
    def convert(value: Any) -> Any:
        for converter in converters:
            value = converter(value, column, connection)
        return value

    return convert
