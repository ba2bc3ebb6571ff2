"""Check JSON schemas of tools that others wrote, and accept or refuse each.

A refused one could fill the prompt, make a provider refuse the whole request, or cost more than is given for checking
arguments against it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Any, Final

from conversations.core.text.storable_text import UNSTORABLE

MOST_CHARACTERS: Final = 16_000  # as JSON
MOST_DEPTH: Final = 24
MOST_NODES: Final = 2_000  # schemas within it, with what a reference means counted wherever there is one
MOST_REFERENCES: Final = 50  # from one to the next
TYPES: Final = frozenset(("array", "boolean", "integer", "null", "number", "object", "string"))
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")

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
    _Walk(schema).visit(schema)


def _is_deeper(value: object, levels: int) -> bool:
    """Tell whether more than so many objects and lists are within each other."""
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return bool(inner) and (not levels or any(_is_deeper(each, levels - 1) for each in inner))


class _Walk:
    """Goes through a schema by way of its references. One that leads back to itself is not followed again."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._nodes = 0

    def visit(self, schema: object, *, within: tuple[str, ...] = ()) -> None:
        self._nodes += 1
        if self._nodes > MOST_NODES:
            raise SchemaRefused(Flaw.EXPANDS)
        if isinstance(schema, bool):
            return
        if not isinstance(schema, Mapping):
            raise SchemaRefused(Flaw.NOT_A_SCHEMA)
        if not all(fits(schema[key]) for key, fits in _VALUES.items() if key in schema):
            raise SchemaRefused(Flaw.NOT_A_SCHEMA)
        for part in _parts_of(schema):
            self.visit(part, within=within)
        for reference in (schema[key] for key in _REFERENCES if key in schema):
            self._follow(reference, within)

    def _follow(self, reference: object, within: tuple[str, ...]) -> None:
        if not isinstance(reference, str) or not reference.startswith("#"):
            raise SchemaRefused(Flaw.REFERS_OUTSIDE)
        if len(within) == MOST_REFERENCES:
            raise SchemaRefused(Flaw.EXPANDS)
        if reference not in within:
            self.visit(self._at(reference), within=(*within, reference))

    def _at(self, reference: str) -> object:
        """Return what a reference such as `#/$defs/Colour` points at."""
        found: Any = self._root
        for step in filter(None, reference.removeprefix("#").split("/")):
            name = step.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, Mapping) or name not in found:
                raise SchemaRefused(Flaw.NOT_A_SCHEMA)
            found = found[name]
        return found


def _parts_of(schema: Schema) -> Iterator[object]:
    """Yield the schemas that *schema* is made of."""
    for key in ("properties", "patternProperties", "dependentSchemas"):
        yield from schema.get(key, {}).values()
    for key in ("anyOf", "allOf", "oneOf", "prefixItems"):
        yield from schema.get(key, ())
    for key in ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"):
        if key in schema and not isinstance(schema[key], list):  # drafts before 2020 had lists of items
            yield schema[key]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_type(value: object) -> bool:
    names = value if isinstance(value, list) else [value]
    return bool(names) and all(isinstance(name, str) and name in TYPES for name in names)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _are_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _is_mapping(value: object) -> bool:
    return isinstance(value, Mapping)


_VALUES: Final[Mapping[str, Callable[[object], bool]]] = {
    "type": _is_type,
    "required": _are_names,
    "description": _is_text,
    **dict.fromkeys(("enum", "anyOf", "allOf", "oneOf", "prefixItems"), _is_list),
    **dict.fromkeys(("properties", "patternProperties", "dependentSchemas"), _is_mapping),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _is_number),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _is_count),
}
