"""JSON schemas made compact for language models: every token of them goes with every request.

Titles, which only repeat names, are left out. Definitions are inlined; only recursive ones stay in `$defs`.
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
LEFT_OUT: Final = frozenset({"title", "discriminator"})  # the second is OpenAPI's


class CompactSchema(GenerateJsonSchema):
    """Generates schemas for readers: a decimal number is a number, and not also a text of a pattern."""

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        either = super().decimal_schema(schema)
        return either["anyOf"][0] if "anyOf" in either else either


def compact_schema(schema: Schema) -> Schema:
    """Return *schema* without titles, its definitions inlined, and its objects closed to further properties."""
    definitions = schema.get("$defs", {})
    recursive = {name for name in definitions if name in _reachable(name, definitions)}
    body = _compact({key: value for key, value in schema.items() if key != "$defs"}, definitions, recursive)
    kept = {name: _compact(definitions[name], definitions, recursive) for name in sorted(recursive)}
    return {**body, "$defs": kept} if kept else body


def _compact(schema: Any, definitions: Mapping[str, Schema], recursive: set[str]) -> Any:
    if not isinstance(schema, dict):
        return schema
    name = schema.get("$ref", "").removeprefix(REF)
    if name in definitions and name not in recursive:
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        return _compact({**definitions[name], **beside}, definitions, recursive)
    compact = {key: value for key, value in schema.items() if key not in LEFT_OUT}
    if "properties" in compact:
        compact.setdefault("additionalProperties", False)
    return _with_parts(compact, lambda part: _compact(part, definitions, recursive))


def _with_parts(schema: Schema, change: Callable[[Any], Any]) -> Schema:
    """Return *schema* with each schema directly inside it changed. Other values, such as defaults, stay."""
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
