"""The description of the API (OpenAPI) as a page shows it: groups of operations, and objects with their fields.

Fields are named as errors name them: `messages[].content`, `stream_options.include_usage`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

REFERENCE = "#/components/schemas/"
TYPES = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "object",
    "array": "list",
}
FORMATS = {"date": "day, such as 2026-11-21", "uuid": "UUID"}


class Kind(NamedTuple):
    """One of the kinds of values that a field takes: words, and the name of the object that they lead to.

    *before* stands before the first one of a list's.
    """

    text: str
    schema: str = ""
    is_literal: bool = False
    before: str = ""


class DescriptionPiece(NamedTuple):
    """Words of a description, or what stands in it as code."""

    text: str
    is_code: bool


class FieldRow(NamedTuple):
    """A field: where it stands, what it takes, and what is said of it."""

    name: str
    kinds: Sequence[Kind]
    is_required: bool
    description: str

    @property
    def pieces(self) -> Sequence[DescriptionPiece]:
        return pieces_of(self.description)


class OperationEntry(NamedTuple):
    """What can be asked by one method at one address. *answer* is the name of the object that is answered."""

    id: str
    method: str
    path: str
    summary: str
    scopes: Sequence[DescriptionPiece]
    fields: Sequence[FieldRow]
    query: Sequence[FieldRow]
    headers: Sequence[FieldRow]
    answer: str
    answer_fields: Sequence[FieldRow]
    media_types: Sequence[str]
    told: Sequence[tuple[str, str]]
    errors: Sequence[tuple[str, str]]


class ApiReference(NamedTuple):
    """All of it: operations by their group, objects that stand in several places by their name, and all errors."""

    groups: Mapping[str, Sequence[OperationEntry]]
    objects: Mapping[str, Sequence[FieldRow]]
    errors: Sequence[tuple[str, str]]


def read_reference(document: Mapping[str, Any]) -> ApiReference:
    """Return what a page shows of *document*."""
    schemas: Mapping[str, Any] = document["components"]["schemas"]
    groups: dict[str, list[OperationEntry]] = {tag["name"]: [] for tag in document["tags"]}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            groups[operation["tags"][0]].append(_entry(path, method, operation, schemas))
    bodies = {name for entries in groups.values() for each in entries for name in (_body_name(document, each),)}
    objects = {name: _rows(schema) for name, schema in schemas.items() if name not in bodies}
    errors = {error for entries in groups.values() for each in entries for error in each.errors}
    return ApiReference(groups, objects, sorted(errors))


def pieces_of(text: str) -> Sequence[DescriptionPiece]:
    """Return *text* in pieces: what stands in backticks is code."""
    return [DescriptionPiece(each, bool(place % 2)) for place, each in enumerate(text.split("`")) if each]


def _body_name(document: Mapping[str, Any], entry: OperationEntry) -> str:
    operation = document["paths"][entry.path][entry.method.lower()]
    return _name_of(_schema_of(operation.get("requestBody", {})))


def _entry(path: str, method: str, operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> OperationEntry:
    parameters = operation.get("parameters", ())
    body = _schema_of(operation.get("requestBody", {}))
    told = operation["responses"]["200"]
    answered = _schema_of(told)
    return OperationEntry(
        id=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=operation["summary"],
        scopes=pieces_of(operation["description"]),
        fields=_rows(schemas[_name_of(body)]) if _name_of(body) else (),
        query=[_parameter(each) for each in parameters if each["in"] == "query"],
        headers=[_parameter(each) for each in parameters if each["in"] == "header"],
        answer=_name_of(answered),
        answer_fields=() if _name_of(answered) else _rows(answered),
        media_types=list(told["content"]),
        told=[(name, each["description"]) for name, each in told.get("headers", {}).items()],
        errors=[(status, each["description"]) for status, each in operation["responses"].items() if status != "200"],
    )


def _schema_of(holder: Mapping[str, Any]) -> Mapping[str, Any]:
    schema: Mapping[str, Any] = holder.get("content", {}).get("application/json", {}).get("schema", {})
    return schema


def _name_of(schema: Mapping[str, Any]) -> str:
    return str(schema.get("$ref", "")).removeprefix(REFERENCE)


def _parameter(given: Mapping[str, Any]) -> FieldRow:
    schema = given["schema"]
    return FieldRow(given["name"], list(_kinds(schema)), given["required"], given.get("description", ""))


def _rows(schema: Mapping[str, Any]) -> list[FieldRow]:
    """Return the fields of an object and of the unnamed objects in it, each behind the field that it stands in.

    Of alternatives, a field that stands in several is one row.
    """
    rows: dict[str, FieldRow] = {}
    for row in _all_rows(schema, ""):
        known = rows.get(row.name)
        if known is None:
            rows[row.name] = row
        else:
            kinds = [*known.kinds, *(kind for kind in row.kinds if kind not in known.kinds)]
            rows[row.name] = row._replace(kinds=kinds, description=known.description or row.description)
    return list(rows.values())


def _all_rows(schema: Mapping[str, Any], before: str) -> Iterator[FieldRow]:
    if "properties" not in schema:
        yield from _needed_in_all(list(_all_rows(each, before)) for each in schema.get("anyOf", ()))
        return
    needed = schema.get("required", ())
    for name, field in schema["properties"].items():
        where = f"{before}{name}"
        yield FieldRow(where, list(_kinds(field)), name in needed, field.get("description", ""))
        yield from _inside(field, where)


def _inside(field: Mapping[str, Any], where: str) -> Iterator[FieldRow]:
    if "properties" in field:
        yield from _all_rows(field, f"{where}.")
    elif "items" in field:
        yield from _inside(field["items"], f"{where}[]")
    yield from _needed_in_all(list(_inside(each, where)) for each in field.get("anyOf", ()))


def _needed_in_all(alternatives: Iterable[list[FieldRow]]) -> Iterator[FieldRow]:
    """Yield the rows of *alternatives* that are objects; only what each of them has to have is required."""
    told = [rows for rows in alternatives if rows]
    needed = [{row.name for row in rows if row.is_required} for rows in told]
    for row in (row for rows in told for row in rows):
        yield row._replace(is_required=all(row.name in names for names in needed))


def _kinds(schema: Mapping[str, Any]) -> Iterator[Kind]:
    """Yield what a value may be; null, which says nothing, is left out beside something else."""
    if name := _name_of(schema):
        yield Kind(name, name)
    elif "anyOf" in schema and "properties" not in schema:
        seen: list[Kind] = []
        for each in schema["anyOf"]:
            for kind in _kinds(each):
                if kind not in seen and kind.text != "null":
                    seen.append(kind)
                    yield kind
    elif "const" in schema or "enum" in schema:
        values = schema.get("enum", [schema.get("const")])
        yield from (Kind(_literal(each), is_literal=True) for each in values if each not in (None, ""))
        if values == [None]:
            yield Kind("null")
    else:
        types = schema.get("type", ())
        told = [types] if isinstance(types, str) else [each for each in types if each != "null" or len(types) == 1]
        if not told:
            yield Kind("anything")
        for each in told:
            yield from _kinds_of_type(each, schema)


def _kinds_of_type(name: str, schema: Mapping[str, Any]) -> Iterator[Kind]:
    if name == "array" and "items" in schema:
        count = _between(schema.get("minItems"), schema.get("maxItems"))
        before = f"list of {count}: " if count else "list of "
        for place, kind in enumerate(_kinds(schema["items"])):
            yield kind._replace(before=(before if place == 0 else "") + kind.before)
        return
    text = FORMATS.get(schema.get("format", ""), TYPES.get(name, name))
    if name in ("integer", "number"):
        bounds = _between(schema.get("minimum"), schema.get("maximum"))
    else:
        bounds = _between(schema.get("minLength"), schema.get("maxLength"), " characters")
        bounds = bounds or _between(None, schema.get("maxProperties"), " fields")
    yield Kind(f"{text}, {bounds}" if bounds else text)


def _between(least: float | None, most: float | None, of: str = "") -> str:
    if most is None:
        return ""
    if isinstance(most, int) and most >= 2**53:
        return ""  # as large as it may be anywhere
    return f"{least:,} to {most:,}{of}" if least is not None else f"at most {most:,}{of}"


def _literal(value: Any) -> str:
    return value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)
