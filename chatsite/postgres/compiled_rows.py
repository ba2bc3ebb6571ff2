"""Rows of compiled SQL as instances of a model, as tuples or as values: as Django's own iterables make them.

Uses internals of Django (`get_related_populators`, `klass_info`, `annotation_col_map`, `_iterable_class`);
tests/postgres/test_django_internals.py guards it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import Model, QuerySet
from django.db.models.query import (
    FlatValuesListIterable,
    ModelIterable,
    RelatedPopulator,
    ValuesListIterable,
    get_related_populators,
)

Row = Sequence[Any]
ReadRow = Callable[[Row], Any]


def row_reader(queryset: QuerySet[Any, Any], compiler: Any) -> ReadRow:
    """Return what makes of a row what *queryset* yields for it. Its *compiler* has written the SQL already."""
    if queryset._prefetch_related_lookups:  # type: ignore[attr-defined]  # not in Django's stubs
        raise TypeError("what is prefetched is another query")
    kind = queryset._iterable_class
    if kind is ModelIterable:
        return InstanceReader(compiler)
    if kind not in (ValuesListIterable, FlatValuesListIterable):
        raise TypeError("rows become instances, or what values_list says")
    read = _value_reader(compiler)
    return read if kind is ValuesListIterable else lambda row: read(row)[0]


class InstanceReader:
    """Makes a row an instance, with what `select_related` and `annotate` have added."""

    def __init__(self, compiler: Any) -> None:
        selected, columns = compiler.select, compiler.klass_info["select_fields"]
        self._columns = slice(columns[0], columns[-1] + 1)
        self._names = [column.target.attname for column, *_ in selected[self._columns]]
        self._model: type[Model] = compiler.klass_info["model"]
        populators: Callable[..., list[RelatedPopulator]] = get_related_populators
        self._related = populators(compiler.klass_info, selected, DEFAULT_DB_ALIAS)
        self._annotations: dict[str, int] = compiler.annotation_col_map
        self._converters = _column_converters(compiler)

    def __call__(self, row: Row) -> Any:
        values = list(row)
        for index, convert in self._converters:
            values[index] = convert(values[index])
        instance = self._model.from_db(DEFAULT_DB_ALIAS, self._names, values[self._columns])
        for related in self._related:
            related.populate(values, instance)
        for name, index in self._annotations.items():
            setattr(instance, name, values[index])
        return instance


def _value_reader(compiler: Any) -> ReadRow:
    converters, count = _column_converters(compiler), compiler.col_count

    def read(row: Row) -> tuple[Any, ...]:
        values = list(row[:count])  # an order by something else is selected behind them
        for index, convert in converters:
            values[index] = convert(values[index])
        return tuple(values)

    return read


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
