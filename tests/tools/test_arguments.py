"""Arguments that a language model wrote, against schemas that anybody wrote."""

from __future__ import annotations

import json
import re

import pytest

from conversations.core.errors import ArgumentsInvalid, ArgumentsNotJson
from conversations.tools.arguments import LONGEST_DETAIL, check_arguments, parse_arguments
from tests.support.cpu_time import cpu_time_under

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
FORECAST = {
    "type": "object",
    "properties": {"days": {"type": "integer", "minimum": 1}, "places": {"type": "array", "items": {"type": "string"}}},
    "required": ["days"],
    "additionalProperties": False,
}


def detail_of(arguments: str, schema: object = FORECAST) -> str:
    with pytest.raises(ArgumentsInvalid) as raised:
        check_arguments(arguments, schema)
    return raised.value.detail


def test_arguments_that_fit_are_an_object():
    assert check_arguments('{"days": 2, "places": ["Rome"]}', FORECAST) == {"days": 2, "places": ["Rome"]}


BROKEN = {
    "nothing": ("", "Expecting value"),
    "a piece": ('{"days": 1', "delimiter"),
    "not a number": ('{"days": NaN}', "NaN is no number in JSON"),
    "infinity": ('{"days": -Infinity}', "-Infinity is no number in JSON"),
    "too large a number": ('{"days": 1e999}', "1e999 is too large a number"),
    "too many digits": ('{"days": ' + "9" * 5_000 + "}", "4300"),
    "a name twice": ('{"days": 1, "days": 2}', "'days' is given more than once"),
    "half of a character": ('{"days": "\\ud800"}', "half of a character"),
    "half of a character in a name": ('{"\\udfff": 1}', "half of a character"),
}


@pytest.mark.parametrize(("arguments", "detail"), BROKEN.values(), ids=BROKEN)
def test_broken_json_is_told_apart_and_explained(arguments, detail):
    with pytest.raises(ArgumentsNotJson) as raised:
        parse_arguments(arguments)
    assert detail in raised.value.for_the_model


UNFIT = {
    "a list": ("[1]", "one object"),
    "a number": ("1", "one object"),
    "a megabyte": ('{"days": "' + "x" * 1_000_000 + '"}', "longer than 200000 characters"),
    "a deep one": ('{"a":' * 60 + "1" + "}" * 60, "nested more than 50 deep"),
    "a bottomless one": ('{"a":' * 10_000 + "1" + "}" * 10_000, "nested more than 50 deep"),
    "a bottomless list": ('{"a":' + "[" * 90_000 + "]" * 90_000 + "}", "nested more than 50 deep"),
    "what is missing": ("{}", "$: 'days' is a required property."),
    "another type": ('{"days": "1"}', "$.days: '1' is not of type 'integer'."),
    "below the limit": ('{"days": 0}', "$.days: 0 is less than the minimum of 1."),
    "what is not known": ('{"days": 1, "hours": 2}', "('hours' was unexpected)"),
    "inside a list": ('{"days": 1, "places": ["Rome", 3]}', "$.places[1]: 3 is not of type 'string'."),
}


@pytest.mark.parametrize(("arguments", "detail"), UNFIT.values(), ids=UNFIT)
def test_arguments_that_do_not_fit_are_explained(arguments, detail):
    assert detail in detail_of(arguments)


def test_an_explanation_stays_short_whatever_is_wrong():
    detail = detail_of(json.dumps({"days": ["x" * 50_000], "places": list(range(1_000))}))
    assert len(detail) <= LONGEST_DETAIL
    assert "is not of type 'integer'" in detail


def doubling(levels: int) -> dict:
    """Return a schema whose check doubles with every level."""
    levels_of = {f"l{n}": {"allOf": [{"$ref": f"#/$defs/l{n + 1}"}] * 2} for n in range(levels)}
    return {"$ref": "#/$defs/l0", "$defs": {**levels_of, f"l{levels}": {"type": "object"}}}


def nested(levels: int) -> dict:
    schema: dict = {}
    for _ in range(levels):
        schema = {"not": schema}
    return schema


BOMBS = {
    "itself": {"$ref": "#"},
    "itself, and an object": {"type": "object", "$ref": "#"},
    "two that name each other": {
        "$ref": "#/$defs/a",
        "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
    },
    "one that doubles": doubling(40),
    "one that is deep": nested(3_000),
    "of another machine": {"$ref": "http://10.0.0.1/schema"},
    "of a file": {"$id": "file:///etc/passwd", "$ref": "shadow"},
    "a type that is a number": {"type": 5},
    "properties that are a number": {"properties": 3},
    "a list": [1],
    "a version that is a list": {"$schema": ["x"]},
}


@pytest.mark.parametrize("schema", BOMBS.values(), ids=BOMBS)
def test_a_schema_that_can_not_be_checked_costs_little_and_lets_nothing_through(schema):
    with cpu_time_under(10):
        assert "can't be checked" in detail_of("{}", schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"pattern": "(a+)+$"}}},
        {"patternProperties": {"(a+)+$": {}}, "additionalProperties": False},
        {"propertyNames": {"pattern": "(a+)+$"}},
    ],
)
def test_a_pattern_that_never_ends_is_not_tried(schema):
    text = "a" * 60 + "b"
    assert check_arguments(json.dumps({"a": text, text: 1}), schema)
    assert re.compile("(a+)+$")  # it is one that Python takes


@pytest.mark.parametrize("frames", range(12))
def test_no_depth_is_met_by_the_code_beneath(frames):
    """It meets Python's own limit at any place, in foreign code too, and what that raises ends more than the check."""
    assert "goes round in circles" in detail_from(frames, {"type": "object", "$ref": "#"})


def detail_from(frames: int, schema: object) -> str:
    return detail_from(frames - 1, schema) if frames else detail_of("{}", schema)


def test_an_object_in_itself_is_checked_as_deep_as_arguments_may_be():
    tree = {"type": "object", "properties": {"next": {"anyOf": [{"$ref": "#/$defs/tree"}, {"type": "null"}]}}}
    arguments = '{"next":' * 48 + "%s" + "}" * 48
    assert check_arguments(arguments % "null", {"$ref": "#/$defs/tree", "$defs": {"tree": tree}})
    assert "is not valid" in detail_of(arguments % "1", {"$ref": "#/$defs/tree", "$defs": {"tree": tree}})


def test_many_values_are_checked_to_the_last():
    schema = {"properties": {"ns": {"type": "array", "items": {"type": "integer"}}}}
    assert len(check_arguments(json.dumps({"ns": list(range(20_000))}), schema)["ns"]) == 20_000
    assert "$.ns[20000]: 'x'" in detail_of(json.dumps({"ns": [*range(20_000), "x"]}), schema)


def test_a_schema_is_read_as_the_version_that_it_names():
    schema = {"$schema": DRAFT_7, "properties": {"pair": {"items": [{"type": "string"}]}}}
    assert "$.pair[0]: 1 is not of type 'string'." in detail_of('{"pair": [1]}', schema)


@pytest.mark.parametrize("schema", [True, {}])
def test_a_schema_that_says_nothing_takes_any_object(schema):
    assert check_arguments('{"a": 1}', schema) == {"a": 1}
