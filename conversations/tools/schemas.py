"""A JSON schema as a language model is told it: short, and in one piece.

Titles say again what names say. Definitions go where they are used; only those that hold themselves stay in `$defs`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

Schema = dict[str, Any]

REF: Final = "#/$defs/"
NAMED: Final = frozenset({"properties", "patternProperties", "$defs"})  # name → schema
LISTED: Final = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
SINGLE: Final = frozenset({"items", "additionalProperties", "propertyNames", "contains", "not"})
NOT_TOLD: Final = frozenset({"title", "discriminator"})  # the second is OpenAPI's


class ToldSchema(GenerateJsonSchema):
    """Writes schemas for readers: a decimal number is a number, and not also a text of a pattern."""

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        either = super().decimal_schema(schema)
        return either["anyOf"][0] if "anyOf" in either else either


def in_one_piece(schema: Schema) -> Schema:
    """Return *schema* without titles, its definitions put where they are used, and its objects closed."""
    definitions = schema.get("$defs", {})
    recursive = {name for name in definitions if name in _reachable(name, definitions)}
    body = _tidy({key: value for key, value in schema.items() if key != "$defs"}, definitions, recursive)
    kept = {name: _tidy(definitions[name], definitions, recursive) for name in sorted(recursive)}
    return {**body, "$defs": kept} if kept else body


def _tidy(schema: Any, definitions: Mapping[str, Schema], recursive: set[str]) -> Any:
    if not isinstance(schema, dict):
        return schema
    name = schema.get("$ref", "").removeprefix(REF)
    if name in definitions and name not in recursive:
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        return _tidy({**definitions[name], **beside}, definitions, recursive)
    told = {key: value for key, value in schema.items() if key not in NOT_TOLD}
    if "properties" in told:
        told.setdefault("additionalProperties", False)
    return _with_parts(told, lambda part: _tidy(part, definitions, recursive))


def _with_parts(schema: Schema, change: Callable[[Any], Any]) -> Schema:
    """Return *schema* with each schema right in it changed. What is no schema, such as a default, stays."""
    changed: Schema = {}
    for key, value in schema.items():
        if key in NAMED:
            changed[key] = {name: change(part) for name, part in value.items()}
        elif key in LISTED:
            changed[key] = [change(part) for part in value]
        else:
            changed[key] = change(value) if key in SINGLE else value
    return changed


def _reachable(name: str, definitions: Mapping[str, Schema]) -> set[str]:
    """Return the names of all definitions that the one called *name* needs."""
    reached: set[str] = set()
    ahead = [name]
    while ahead:
        found = set(_refs(definitions[ahead.pop()])) - reached
        reached |= found
        ahead.extend(found)
    return reached


def _refs(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(ref := part.get("$ref"), str):
            yield ref.removeprefix(REF)
        for value in part.values():
            yield from _refs(value)
    elif isinstance(part, list):
        for value in part:
            yield from _refs(value)
