"""Compiled queries: Django writes their SQL once per process, for the queries that every message makes.

Writing a query that joins five tables takes Django longer than it takes PostgreSQL to answer it, and all replies of a
process wait for one another meanwhile: only one of its threads runs Python at a time. (Not a prepared statement of
PostgreSQL: the text is sent each time.) Their filters are written in SQL; those of `compiled_queryset` as in Django.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import Model, QuerySet

from .compiled_rows import InstanceReader

M = TypeVar("M", bound=Model)


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
        sql, first_arguments, read = self._compiled
        with connection.cursor() as cursor:
            cursor.execute(sql, (*first_arguments, *arguments))
            rows = cursor.fetchall()
        return [read(row) for row in rows]

    @cached_property
    def _compiled(self) -> tuple[str, tuple[Any, ...], InstanceReader]:
        compiler = self._queryset.order_by().query.get_compiler(DEFAULT_DB_ALIAS)
        sql, arguments = compiler.as_sql()
        return f"{sql} {self._tail}", arguments, InstanceReader(compiler)
