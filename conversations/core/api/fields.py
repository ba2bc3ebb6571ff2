"""Fields of a request: the JSON Schema of each and the function that reads it, made from the same bounds.

The schemas are what `/v1/openapi.json` says of a request, and the readers refuse the names that are in none of them. A
schema with a `title` gets a name of its own there. What no schema can say, such as that a tool result answers a call
before it, is said in words and refused by the readers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from conversations.core.errors import ParameterInvalid

from .json_body import read_json_object, shown_name

JsonSchema = Mapping[str, Any]
# What says nothing, in a field whose name is not known: programs send back objects of OpenAI's with all their fields.
NOTHING: JsonSchema = {"enum": [None, []]}
NULL: JsonSchema = {"type": "null"}
TEXT: JsonSchema = {"type": "string"}
BOOLEAN: JsonSchema = {"type": "boolean"}
ANYTHING: JsonSchema = {}
# A text that shows something: regular expressions differ in what white space is, so all of it is named.
SHOWN = re.compile(r"[^\s\x1c-\x1f\x85\ufeff]")
SHOWN_TEXT: JsonSchema = {"type": "string", "pattern": SHOWN.pattern}


@dataclass(frozen=True, slots=True)
class Field:
    """A value that can be read by itself: `field(value, name)` returns it or raises `ParameterInvalid`."""

    schema: JsonSchema
    read: Callable[[Any, str], Any]

    def __call__(self, value: Any, name: str) -> Any:
        return self.read(value, name)


def number(least: float, most: float) -> Field:
    def read(value: Any, name: str) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
            raise ParameterInvalid(name, f"a number from {least:g} to {most:g} is needed")
        return value

    return Field({"type": "number", "minimum": least, "maximum": most}, read)


def whole_number(least: int, most: int, reason: str = "") -> Field:
    """Return a field of whole numbers, also written as 20.0; *reason* is what others are refused with."""

    def read(value: Any, name: str) -> int:
        is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        if isinstance(value, bool) or not is_whole or not least <= value <= most:
            raise ParameterInvalid(name, reason or f"a whole number from {least} to {most} is needed")
        return int(value)

    return Field({"type": "integer", "minimum": least, "maximum": most}, read)


def one_of(*words: str) -> Field:
    def read(value: Any, name: str) -> str:
        if value not in words:
            raise ParameterInvalid(name, f"it is none of {', '.join(filter(None, words))}")
        return str(value)

    return Field({"type": "string", "enum": list(words)}, read)


def only(*values: Any) -> Field:
    """Return a field that takes nothing but *values*: those that change nothing."""

    def read(value: Any, name: str) -> Any:
        if not any(value == each and isinstance(value, bool) is isinstance(each, bool) for each in values):
            raise ParameterInvalid(name, f"only {' or '.join(json.dumps(each) for each in values)} is supported")
        return value

    return Field({"enum": list(values)}, read)


def read_boolean(value: Any, name: str) -> bool:
    if not isinstance(value, bool):
        raise ParameterInvalid(name, "true or false is needed")
    return value


def read_shown_text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not SHOWN.search(value):
        raise ParameterInvalid(name, "a text is needed")
    return value


def text_schema(least: int = 0, most: int | None = None) -> JsonSchema:
    """Return the schema of a text of so many characters."""
    lengths = {"minLength": least or None, "maxLength": most}
    return {"type": "string", **{name: length for name, length in lengths.items() if length is not None}}


def object_schema(
    properties: Mapping[str, JsonSchema],
    *,
    required: Iterable[str] = (),
    others: JsonSchema | bool = False,
    **more: Any,
) -> JsonSchema:
    """Return the schema of an object; its other fields have to fit *others*, and there are none where that is false."""
    schema: dict[str, Any] = {**more, "type": "object", "properties": dict(properties)}
    if needed := list(required):
        schema["required"] = needed
    return {**schema, "additionalProperties": others}


def or_null(schema: JsonSchema) -> JsonSchema:
    """Return a schema that fits null, too."""
    if "title" in schema or "const" in schema:
        return {"anyOf": [schema, NULL]}
    if "anyOf" in schema:
        return schema if NULL in schema["anyOf"] else {**schema, "anyOf": [*schema["anyOf"], NULL]}
    allowed: dict[str, Any] = {}
    if "type" in schema:
        types = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
        allowed["type"] = [*(each for each in types if each != "null"), "null"]
    if "enum" in schema:
        allowed["enum"] = [*(each for each in schema["enum"] if each is not None), None]
    return {**schema, **allowed}


def nullable_fields(properties: Mapping[str, JsonSchema], *, required: Iterable[str] = (), **more: Any) -> JsonSchema:
    """Return the schema of an object in which null says nothing, whatever a field is called."""
    needed = tuple(required)
    fields = {name: each if name in needed else or_null(each) for name, each in properties.items()}
    return object_schema(fields, required=needed, others=NULL, **more)


def said(schema: JsonSchema, description: str) -> JsonSchema:
    """Return *schema* with what is said of it for people."""
    return {**schema, "description": description}


def read_fields(body: bytes, schema: JsonSchema) -> dict[str, Any]:
    """Return the fields of *body* but those that are null. Raises `ParameterInvalid` for one that *schema* has not."""
    given = {name: value for name, value in read_json_object(body).items() if value is not None}
    refuse_other_fields(given, schema["properties"])
    return given


def refuse_other_fields(value: Mapping[str, Any], names: Iterable[str], where: str = "") -> None:
    """Raise `ParameterInvalid` for the first name in *value* that is none of *names*."""
    for name in value:
        if name not in names:
            place = f"{where}." if where else ""
            raise ParameterInvalid(f"{place}{shown_name(name)}", "it is not supported")


def refuse_telling_fields(value: Mapping[str, Any], names: Iterable[str], where: str) -> None:
    """Raise `ParameterInvalid` for the first name that is none of *names* and has a value other than null and []."""
    for name, each in value.items():
        if name not in names and each not in NOTHING["enum"]:
            raise ParameterInvalid(f"{where}.{shown_name(name)}", "it is not supported")
