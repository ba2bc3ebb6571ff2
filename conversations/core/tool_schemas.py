"""Schemas of tools that others wrote: what is taken of them, and what arguments are checked against.

A schema is a program that others let us run: a pattern or a reference can cost seconds, or an hour. So the language
model is told of all of it, and arguments are checked against a part that costs no more than its size: without
references, patterns, conditions and negations. Whoever offers the tool checks the rest.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Final

from .text import UNSTORABLE

MOST_CHARACTERS: Final = 16_000  # as JSON
MOST_DEPTH: Final = 24
MOST_NODES: Final = 2_000  # schemas within the schema, once each reference is replaced by what it means
TYPES: Final = frozenset(("array", "boolean", "integer", "null", "number", "object", "string"))

Schema = Mapping[str, Any]


class Flaw(StrEnum):
    """Why a schema is not taken."""

    TOO_LARGE = "schema_too_large"
    TOO_DEEP = "schema_too_deep"
    REFERS_OUTSIDE = "schema_refers_outside"
    EXPANDS = "schema_expands"
    NOT_A_SCHEMA = "not_a_schema"


class SchemaRefused(ValueError):
    def __init__(self, flaw: Flaw) -> None:
        self.flaw = flaw
        super().__init__(flaw.value)


def require_sound(schema: Schema) -> None:
    """Raise `SchemaRefused` unless *schema* describes an object, can be stored, and can be checked at no great cost."""
    try:
        written = json.dumps(schema, ensure_ascii=False, allow_nan=False)
    except RecursionError as error:
        raise SchemaRefused(Flaw.TOO_DEEP) from error
    except (TypeError, ValueError) as error:
        raise SchemaRefused(Flaw.NOT_A_SCHEMA) from error
    if len(written) > MOST_CHARACTERS:
        raise SchemaRefused(Flaw.TOO_LARGE)
    if _is_deeper(schema, MOST_DEPTH):
        raise SchemaRefused(Flaw.TOO_DEEP)
    if schema.get("type") != "object" or "\\u0000" in written or UNSTORABLE.search(written):
        raise SchemaRefused(Flaw.NOT_A_SCHEMA)
    checkable(schema)


def _is_deeper(value: object, levels: int) -> bool:
    """Tell whether more than so many objects and lists are within each other."""
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return bool(inner) and (not levels or any(_is_deeper(each, levels - 1) for each in inner))


def checkable(schema: Schema) -> dict[str, Any]:
    """Return the part of *schema* that arguments are checked against: it takes whatever the whole takes, and more.

    Raises `SchemaRefused`.
    """
    checked = _Expansion(schema).of(schema, within=())
    return checked if isinstance(checked, dict) else {}


class _Expansion:
    """Replaces references by what they mean. One that leads back to itself means anything."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._nodes = 0

    def of(self, schema: object, *, within: tuple[str, ...]) -> dict[str, Any] | bool:
        self._nodes += 1
        if self._nodes > MOST_NODES:
            raise SchemaRefused(Flaw.EXPANDS)
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, Mapping):
            raise SchemaRefused(Flaw.NOT_A_SCHEMA)
        expanded = {key: schema[key] for key, fits in _VALUES.items() if key in schema and _require(fits(schema[key]))}
        expanded |= self._parts(schema, within)
        for key in ("$ref", "$dynamicRef", "$recursiveRef"):
            if key in schema:
                expanded.setdefault("allOf", []).append(self._meant_by(schema[key], within))
        return expanded

    def _parts(self, schema: Schema, within: tuple[str, ...]) -> dict[str, Any]:
        parts: dict[str, Any] = {}
        if "properties" in schema and _require(isinstance(schema["properties"], Mapping)):
            properties = schema["properties"].items()
            parts["properties"] = {name: self.of(each, within=within) for name, each in properties}
        if isinstance(schema.get("items"), Mapping | bool):  # drafts before 2020 had lists there
            parts["items"] = self.of(schema["items"], within=within)
        if "additionalProperties" in schema and "patternProperties" not in schema:
            parts["additionalProperties"] = self.of(schema["additionalProperties"], within=within)
        for key in ("anyOf", "allOf", "oneOf"):
            if key in schema and _require(isinstance(schema[key], list) and schema[key]):
                choices = [self.of(each, within=within) for each in schema[key]]
                # With less in each, several of one-of may fit where one did.
                parts.setdefault("allOf", []).extend(choices if key == "allOf" else [{"anyOf": choices}])
        return parts

    def _meant_by(self, reference: object, within: tuple[str, ...]) -> dict[str, Any] | bool:
        if not isinstance(reference, str) or not reference.startswith("#"):
            raise SchemaRefused(Flaw.REFERS_OUTSIDE)
        if reference in within:
            return True
        return self.of(self._at(reference), within=(*within, reference))

    def _at(self, reference: str) -> object:
        """Return what a reference such as `#/$defs/Colour` points at."""
        found: Any = self._root
        for step in filter(None, reference.removeprefix("#").split("/")):
            name = step.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, Mapping) or name not in found:
                raise SchemaRefused(Flaw.NOT_A_SCHEMA)
            found = found[name]
        return found


def _require(fits: object) -> bool:
    if not fits:
        raise SchemaRefused(Flaw.NOT_A_SCHEMA)
    return True


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_type(value: object) -> bool:
    names = value if isinstance(value, list) else [value]
    return bool(names) and all(isinstance(name, str) and name in TYPES for name in names)


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _are_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _is_anything(value: object) -> bool:
    return True


_VALUES: Final[Mapping[str, Callable[[object], bool]]] = {
    "type": _is_type,
    "enum": _is_list,
    "const": _is_anything,
    "required": _are_names,
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _is_number),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _is_count),
}
