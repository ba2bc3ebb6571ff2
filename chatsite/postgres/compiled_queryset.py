"""Compiled querysets: functions that build a queryset, whose SQL Django writes once per process.

    @compiled_queryset
    def last_active(owner_id: int, since: dt.datetime, *, limit: int) -> QuerySet[Conversation]:
        return Conversation.objects.filter(owner_id=owner_id, last_active_at__gt=since)[:limit]

    last_active.all(7, yesterday, limit=50)   # the rows: Django does not write SQL again
    last_active(7, yesterday, limit=50)       # the queryset itself

The function is called with example arguments, and again with others: where the SQL's parameters are those of the
examples, arguments go. Nothing else may differ between the two calls, so an argument can't be what Django writes into
the SQL itself, such as a limit. That is what keyword-only parameters are for: SQL is written for each of their values,
which have to be few. What the function reads beside its parameters, such as a setting, stays as it was.

A parameter that is a list is for `__in`, and becomes `= ANY`: its length is not in the SQL. No argument may be None,
which Django writes as IS NULL.
"""

from __future__ import annotations

import datetime as dt
import inspect
import re
import uuid
from collections.abc import Callable, Sequence
from functools import cached_property, update_wrapper
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar, get_args, get_origin

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import QuerySet
from psycopg.types.numeric import Int2, Int4, Int8

from .compiled_rows import ReadRow, row_reader

P = ParamSpec("P")
R = TypeVar("R")
# Of a type, by number: no two are equal. Integers that the smallest column holds: of others Django knows the answer.
EXAMPLES: dict[type, Callable[[int], Any]] = {
    int: lambda number: 20_011 + number,
    str: lambda number: f"example {number}",
    uuid.UUID: lambda number: uuid.UUID(int=number + 1),
    dt.datetime: lambda number: dt.datetime(2000, 1, 1, tzinfo=dt.UTC) + dt.timedelta(days=number),
    dt.date: lambda number: dt.date(2000, 1, 1) + dt.timedelta(days=number),
}
# What Django makes of an integer for a column. What has more bits psycopg cuts to them, so it goes as it is instead.
BITS: dict[Any, int] = {Int2: 16, Int4: 32, Int8: 64}
PLACEHOLDER = re.compile(r"(%%|%s)")


class CompileError(TypeError):
    """The queryset can't be compiled: an argument is not among the parameters of its SQL, or other than it was."""


class CompiledQueryset(Generic[P, R]):
    """The queryset that *build* returns, and its rows by SQL that is written once."""

    def __init__(self, build: Callable[P, QuerySet[Any, R]]) -> None:
        self._build = build
        self._written: dict[tuple[tuple[str, Any], ...], _Compiled] = {}
        update_wrapper(self, build)

    def __call__(self, *arguments: P.args, **constants: P.kwargs) -> QuerySet[Any, R]:
        return self._build(*arguments, **constants)

    def all(self, *arguments: P.args, **constants: P.kwargs) -> list[R]:
        key = tuple(constants.items())
        compiled = self._written.get(key) or self._written.setdefault(key, self._compile(constants))
        with connection.cursor() as cursor:
            cursor.execute(compiled.sql, compiled.parameters_for(arguments))
            rows = cursor.fetchall()
        return [compiled.read(row) for row in rows]

    def first(self, *arguments: P.args, **constants: P.kwargs) -> R | None:
        """Return the first of all rows: where there may be more, the queryset has to be cut to one."""
        return next(iter(self.all(*arguments, **constants)), None)

    @cached_property
    def _parameters(self) -> list[_Parameter]:
        found = inspect.signature(self._build, eval_str=True).parameters.values()
        positional = [each for each in found if each.kind is not inspect.Parameter.KEYWORD_ONLY]
        return [_Parameter.of(each.name, each.annotation) for each in positional]

    def _compile(self, constants: dict[str, Any]) -> _Compiled:
        count = len(self._parameters)
        examples = [
            [parameter.example(number) for number, parameter in enumerate(self._parameters, start=start)]
            for start in (0, count)
        ]
        first, second = (_write(self._build(*arguments, **constants)) for arguments in examples)
        if first.sql != second.sql or len(first.parameters) != len(second.parameters):
            raise CompileError("an argument is written into the SQL: make it keyword-only")
        places = [
            place
            for position, pair in enumerate(zip(first.parameters, second.parameters, strict=True))
            if (place := _find_place(position, pair, examples, self._parameters))
        ]
        if missing := {each.name for each in self._parameters} - {place.name for place in places}:
            raise CompileError(f"the SQL does not have {', '.join(sorted(missing))}")
        lists = [place.position for place in places if place.is_list]
        return _Compiled(_with_any(first.sql, lists), first.parameters, places, count, first.read)


def compiled_queryset(build: Callable[P, QuerySet[Any, R]]) -> CompiledQueryset[P, R]:
    """Decorate a function that builds a queryset from its positional parameters and from constants, by keyword."""
    return CompiledQueryset(build)


class _Parameter(NamedTuple):
    """A positional parameter of the function: a value of *kind*, or a list of them."""

    name: str
    kind: type
    is_list: bool

    @classmethod
    def of(cls, name: str, annotation: Any) -> _Parameter:
        is_list = get_origin(annotation) is list
        kind = get_args(annotation)[0] if is_list else annotation
        if kind not in EXAMPLES:
            raise CompileError(f"{name} can't be an argument of SQL: make it keyword-only")
        return cls(name, kind, is_list)

    def example(self, number: int) -> Any:
        value = EXAMPLES[self.kind](number)
        return [value] if self.is_list else value


class _Place(NamedTuple):
    """Which of the SQL's parameters, by *position*, an argument is, and the type that Django has made it, if any."""

    position: int
    argument: int
    name: str
    wrap: Callable[[Any], Any] | None
    is_list: bool

    def value_of(self, argument: Any) -> Any:
        if argument is None:
            raise TypeError(f"{self.name} is None")
        values = list(argument) if self.is_list else [argument]
        if self.wrap and _all_fit(self.wrap, values):
            values = [self.wrap(each) for each in values]
        return values if self.is_list else values[0]


def _all_fit(kind: Any, values: Sequence[Any]) -> bool:
    bits = BITS.get(kind)
    return bits is None or all(-(1 << bits - 1) <= each < 1 << bits - 1 for each in values)


class _Written(NamedTuple):
    sql: str
    parameters: Sequence[Any]
    read: ReadRow


class _Compiled(NamedTuple):
    """SQL with the *parameters* of the examples, and the *places* among them where so many arguments go."""

    sql: str
    parameters: Sequence[Any]
    places: list[_Place]
    argument_count: int
    read: ReadRow

    def parameters_for(self, arguments: Sequence[Any]) -> list[Any]:
        if len(arguments) != self.argument_count:
            raise TypeError(f"{self.argument_count} arguments are expected by position, and {len(arguments)} are given")
        parameters = list(self.parameters)
        for place in self.places:
            parameters[place.position] = place.value_of(arguments[place.argument])
        return parameters


def _write(queryset: QuerySet[Any, Any]) -> _Written:
    compiler = queryset.query.get_compiler(DEFAULT_DB_ALIAS)
    sql, parameters = compiler.as_sql()
    return _Written(sql, parameters, row_reader(queryset, compiler))


def _find_place(
    position: int, pair: tuple[Any, Any], examples: Sequence[Sequence[Any]], parameters: Sequence[_Parameter]
) -> _Place | None:
    """Return whose place a parameter of the SQL is, which has been *pair* for the examples; None for a constant."""
    if pair[0] == pair[1]:
        return None
    for number, parameter in enumerate(parameters):
        shown = [of_call[number][0] if parameter.is_list else of_call[number] for of_call in examples]
        if list(pair) == shown:
            made = type(pair[0])
            return _Place(position, number, parameter.name, None if made is parameter.kind else made, parameter.is_list)
    raise CompileError(f"no argument is in the SQL as it was: {pair[0]!r}")


def _with_any(sql: str, lists: Sequence[int]) -> str:
    """Return *sql* with `= ANY` in the place of `IN` for those of its parameters that are lists, by index."""
    pieces = PLACEHOLDER.split(sql)
    places = [index for index, piece in enumerate(pieces) if piece == "%s"]
    for place in (places[index] for index in lists):
        before, after = pieces[place - 1], pieces[place + 1]
        if not before.endswith("IN (") or not after.startswith(")"):
            raise CompileError("a list is for `__in` alone")
        pieces[place - 1] = before.removesuffix("IN (") + "= ANY("
    return "".join(pieces)
