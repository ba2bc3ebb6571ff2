"""Values that a JSON schema of a tool asks for, as a language model would make them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

CHARACTERS = st.characters(exclude_categories=["Cs"])
TEXT = st.text(CHARACTERS, max_size=20)
ANYTHING = st.none() | st.booleans() | st.integers(-99, 99) | TEXT
FORMATS = {
    "date-time": st.datetimes().map(lambda at: at.isoformat()),
    "date": st.dates().map(lambda day: day.isoformat()),
    "time": st.times().map(lambda time: time.isoformat()),
    "duration": st.integers(0, 99).map(lambda days: f"P{days}DT3H"),
    "uuid": st.uuids().map(str),
    "binary": TEXT,
}


def values_of(schema: dict[str, Any], definitions: dict[str, Any] | None = None) -> st.SearchStrategy[Any]:
    """Return values that *schema* takes, of those words that tools' schemas have."""
    definitions = definitions or schema.get("$defs", {})
    if "$ref" in schema:
        return st.deferred(lambda: values_of(definitions[schema["$ref"].rpartition("/")[2]], definitions))
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return st.one_of([values_of(each, definitions) for each in schema[key]])
    if "const" in schema or "enum" in schema:
        return st.sampled_from(schema.get("enum") or [schema["const"]])
    return _of_type(schema, definitions)


def _of_type(schema: dict[str, Any], definitions: dict[str, Any]) -> st.SearchStrategy[Any]:
    least, most = schema.get("minimum", -(2**60)), schema.get("maximum", 2**60)
    match schema.get("type"):
        case "object":
            return _objects(schema, definitions)
        case "array":
            return _arrays(schema, definitions)
        case "integer":
            return st.integers(least, most)
        case "number":
            return st.integers(int(least), int(most)) | st.floats(least, most, allow_subnormal=False)
        case "string":
            return _texts(schema)
    return {"boolean": st.booleans(), "null": st.none()}.get(schema.get("type", ""), ANYTHING)


def _objects(schema: dict[str, Any], definitions: dict[str, Any]) -> st.SearchStrategy[Any]:
    if "properties" not in schema:
        others = schema.get("additionalProperties")
        return st.dictionaries(
            TEXT, values_of(others, definitions) if isinstance(others, dict) else ANYTHING, max_size=3
        )
    parts = {name: values_of(part, definitions) for name, part in schema["properties"].items()}
    required = {name: parts.pop(name) for name in schema.get("required", ())}
    return st.fixed_dictionaries(required, optional=parts)


def _arrays(schema: dict[str, Any], definitions: dict[str, Any]) -> st.SearchStrategy[Any]:
    if "prefixItems" in schema:
        return st.tuples(*(values_of(each, definitions) for each in schema["prefixItems"])).map(list)
    most = min(schema.get("maxItems", 3), 3)
    unique_by = repr if schema.get("uniqueItems") else None
    return st.lists(values_of(schema["items"], definitions), max_size=most, unique_by=unique_by)


def _texts(schema: dict[str, Any]) -> st.SearchStrategy[str]:
    if "pattern" in schema:
        return st.from_regex(schema["pattern"].rstrip("$") + r"\Z")
    plain = st.text(CHARACTERS, min_size=schema.get("minLength", 0), max_size=schema.get("maxLength", 20))
    return FORMATS.get(schema.get("format", ""), plain)
