"""Which schemas of others are taken."""

import pytest

from conversations.core.tools.tool_schemas import Flaw, SchemaRefused, require_sound


def of_properties(**properties):
    return {"type": "object", "properties": properties}


def nested(levels):
    schema = {"type": "string"}
    for _ in range(levels):
        schema = of_properties(x=schema)
    return schema


def doubling(levels):
    """Each definition names the next one twice."""
    defs = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)}
    return {"type": "object", "$ref": "#/$defs/d0", "$defs": {**defs, f"d{levels}": {"type": "object"}}}


def chain(levels):
    defs = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(levels)}
    return {"type": "object", "$ref": "#/$defs/d0", "$defs": {**defs, f"d{levels}": {"type": "object"}}}


SOUND = [
    {"type": "object"},
    {"type": "object", "properties": {}, "additionalProperties": False},
    of_properties(a={"type": ["string", "null"], "enum": ["x", None], "minLength": 1}, b=True),
    of_properties(a={"anyOf": [{"type": "integer", "minimum": 0}, {"const": "all"}]}, b={"type": "array", "items": {}}),
    of_properties(a={"$ref": "#/$defs/Colour"}) | {"$defs": {"Colour": {"enum": ["red"]}}},
    of_properties(tree={"$ref": "#/$defs/t"}) | {"$defs": {"t": of_properties(left={"$ref": "#/$defs/t"})}},
    of_properties(self={"$ref": "#"}),
    of_properties(description={"type": "string", "description": "What it is."}),
    of_properties(a={"$ref": "#/$defs/a~1b"}) | {"$defs": {"a/b": {"type": "string"}}},
    of_properties(a={"pattern": "(a+)+$"}, b={"items": [{"type": "string"}]}),
    chain(40),
]
REFUSED = [
    ({}, Flaw.NOT_A_SCHEMA),
    ({"type": "string"}, Flaw.NOT_A_SCHEMA),
    ({"type": "object", "properties": []}, Flaw.NOT_A_SCHEMA),
    ({"type": "object", "required": "all"}, Flaw.NOT_A_SCHEMA),
    ({"type": "object", "required": [1]}, Flaw.NOT_A_SCHEMA),
    (of_properties(a="string"), Flaw.NOT_A_SCHEMA),
    (of_properties(a={"type": "text"}), Flaw.NOT_A_SCHEMA),
    (of_properties(a={"type": []}), Flaw.NOT_A_SCHEMA),
    (of_properties(a={"enum": "x"}), Flaw.NOT_A_SCHEMA),
    (of_properties(a={"minimum": "0"}), Flaw.NOT_A_SCHEMA),
    (of_properties(a={"minimum": True}), Flaw.NOT_A_SCHEMA),
    (of_properties(a={"maxLength": -1}), Flaw.NOT_A_SCHEMA),
    (of_properties(a={"anyOf": {"type": "string"}}), Flaw.NOT_A_SCHEMA),
    (of_properties(a={"description": ["which"]}), Flaw.NOT_A_SCHEMA),  # not even its tokens could be counted
    (of_properties(a={"$ref": "#/$defs/gone"}), Flaw.NOT_A_SCHEMA),
    (of_properties(a={"default": float("nan")}), Flaw.NOT_A_SCHEMA),
    (of_properties(a={"default": "\x00"}), Flaw.NOT_A_SCHEMA),
    (of_properties(a={"default": "\ud800"}), Flaw.NOT_A_SCHEMA),
    (of_properties(a={"$ref": "https://example.org/schema.json"}), Flaw.REFERS_OUTSIDE),
    (of_properties(a={"$ref": "file:///etc/passwd"}), Flaw.REFERS_OUTSIDE),
    (of_properties(a={"$dynamicRef": "other.json#x"}), Flaw.REFERS_OUTSIDE),
    (of_properties(a={"$ref": 7}), Flaw.REFERS_OUTSIDE),
    (of_properties(a={"description": "x" * 20_000}), Flaw.TOO_LARGE),
    (of_properties(**{f"p{n}": {"type": "string"} for n in range(1_000)}), Flaw.TOO_LARGE),
    (nested(30), Flaw.TOO_DEEP),
    (nested(400), Flaw.TOO_LARGE),
    (nested(5_000), Flaw.TOO_DEEP),
    (doubling(20), Flaw.EXPANDS),
    (chain(400), Flaw.EXPANDS),
]


@pytest.mark.parametrize("schema", SOUND)
def test_it_takes_what_people_write(schema):
    require_sound(schema)


@pytest.mark.parametrize(("schema", "flaw"), REFUSED)
def test_it_refuses_what_could_cost(schema, flaw):
    with pytest.raises(SchemaRefused) as raised:
        require_sound(schema)
    assert raised.value.flaw == flaw
