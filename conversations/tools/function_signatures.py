"""Signatures of Python functions: as JSON schemas for language models, and as parsers of the arguments of a call.

type hints ─▶ pydantic ─▶ JSON schema, described by the docstring          for the language model
JSON text  ─▶ pydantic ─▶ dataclasses, enums, dates, … by those hints      for the function
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import Parameter
from types import SimpleNamespace
from typing import Any, NotRequired, get_args, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config
from pydantic.fields import FieldInfo
from pydantic_core import PydanticSerializationError, to_jsonable_python
from typing_extensions import TypedDict

from conversations.core.errors import ArgumentsInvalid

from .arguments import parse_arguments
from .compact_schemas import CompactSchema, Schema, compact_schema
from .docstrings import FunctionDocs, parse_docstring
from .tool import ToolContext

MOST_ERRORS = 5
LONGEST_ERROR = 300


class UnfitSignature(Exception):
    """A function can't be a tool; the message says why."""


@dataclass(frozen=True, slots=True)
class FunctionSignature:
    """The parameters of one function: *schema* as language models get it, *positional* those given by place alone.

    *context* is the name of the parameter that gets the `ToolContext`, blank if there is none.
    """

    schema: Schema
    adapter: TypeAdapter[dict[str, Any]]
    positional: tuple[Parameter, ...]
    context: str

    def parse(self, arguments: str) -> dict[str, Any]:
        """Return the arguments by name, parsed from JSON text. Raises `ArgumentsNotJson`, `ArgumentsInvalid`."""
        parse_arguments(arguments)
        try:
            return self.adapter.validate_json(arguments)
        except ValidationError as error:
            raise ArgumentsInvalid(detail=_mistakes_text(error)) from error
        except Exception as error:  # a class of the function's own refuses them in its own way
            raise ArgumentsInvalid(detail=f"{type(error).__name__}: {error}"[:LONGEST_ERROR]) from error

    def call(self, function: Callable[..., Any], values: Mapping[str, Any], context: ToolContext) -> Any:
        """Call *function* with the *values* that were parsed, and return its result."""
        named = {**values, self.context: context} if self.context else dict(values)
        placed = [named.pop(parameter.name, parameter.default) for parameter in self.positional]
        return function(*placed, **named)


def read_signature(function: Callable[..., Any]) -> FunctionSignature:
    """Return the signature of *function*. Raises `UnfitSignature`."""
    parameters = list(inspect.signature(function).parameters.values())
    hints = _hints(function)
    context = next((each.name for each in parameters if _is_context(hints.get(each.name))), "")
    given = [each for each in parameters if each.name != context]
    for parameter in given:
        _require_fit(parameter, hints)
    adapter, schema = _adapter_and_schema(given, hints)
    positional = tuple(each for each in parameters if each.kind is Parameter.POSITIONAL_ONLY)
    return FunctionSignature(
        compact_schema(_with_descriptions(schema, given, hints, parse_docstring(function))),
        adapter,
        positional,
        context,
    )


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the types of the parameters. The return type is left out: it may exist for type checkers only."""
    plain = inspect.unwrap(function)
    written = {name: hint for name, hint in getattr(plain, "__annotations__", {}).items() if name != "return"}
    names = getattr(plain, "__globals__", {})
    try:
        return get_type_hints(SimpleNamespace(__annotations__=written), globalns=names, include_extras=True)
    except Exception as error:
        raise UnfitSignature(f"its types can't be read: {error}") from error


def _is_context(hint: Any) -> bool:
    """Tell whether a type has the context in it: no language model may say for whom a tool runs."""
    return hint is ToolContext or any(map(_is_context, get_args(hint)))


def _require_fit(parameter: Parameter, hints: Mapping[str, Any]) -> None:
    if parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
        raise UnfitSignature(f"{parameter} takes whatever there is: name its parameters")
    if parameter.name not in hints:
        raise UnfitSignature(f"its parameter {parameter.name!r} has no type")
    if isinstance(parameter.default, FieldInfo):
        raise UnfitSignature(f"its parameter {parameter.name!r} has a Field for a default: put it into Annotated")


def _adapter_and_schema(given: list[Parameter], hints: Mapping[str, Any]) -> tuple[TypeAdapter[dict[str, Any]], Schema]:
    """Return what reads the arguments. Of those that are left out the function's own defaults are taken."""
    fields = {each.name: _field(each, hints[each.name]) for each in given}
    Arguments = TypedDict("Arguments", fields)  # type: ignore[misc]  # of types that are known only now
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(with_config(ConfigDict(extra="forbid"))(Arguments))
        return adapter, adapter.json_schema(schema_generator=CompactSchema)
    except Exception as error:  # pydantic has many ways to say that there is no schema
        raise UnfitSignature(str(error).partition("\n")[0]) from error


def _field(parameter: Parameter, hint: Any) -> Any:
    return hint if parameter.default is Parameter.empty else NotRequired[hint]


def _with_descriptions(schema: Schema, given: list[Parameter], hints: Mapping[str, Any], docs: FunctionDocs) -> Schema:
    """Return *schema* with descriptions from type hints, else from the docstring, and with the defaults."""
    properties: Schema = {}
    for parameter in given:
        properties[parameter.name] = {**schema["properties"][parameter.name], **_default(parameter)}
        if description := _annotated_text(hints[parameter.name]) or docs.parameters.get(parameter.name):
            properties[parameter.name].setdefault("description", description)
    return {**schema, "properties": properties}


def _default(parameter: Parameter) -> Schema:
    if parameter.default in (Parameter.empty, None, ""):  # that nothing is given goes without saying
        return {}
    try:
        return {"default": to_jsonable_python(parameter.default)}
    except PydanticSerializationError:
        return {}


def _annotated_text(hint: Any) -> str:
    """Return the text of `Annotated[int, "How many."]`, a common spelling of descriptions."""
    return next((each for each in getattr(hint, "__metadata__", ()) if isinstance(each, str)), "")


def _mistakes_text(error: ValidationError) -> str:
    """Return where the arguments are wrong and why, for a model to mend them."""
    mistakes = error.errors(include_url=False, include_context=False, include_input=False)
    lines = [f"{'.'.join(map(str, each['loc'])) or 'arguments'}: {each['msg']}."[:LONGEST_ERROR] for each in mistakes]
    return " ".join(lines[:MOST_ERRORS])
