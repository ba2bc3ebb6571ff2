"""What language models are told of a function's parameters, and what the function gets."""

from __future__ import annotations

import datetime as dt
import inspect
import json
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conversations.core.errors import ArgumentsInvalid, ArgumentsNotJson
from conversations.tools.arguments import check_arguments
from conversations.tools.function_signatures import UnfitSignature, read_signature
from conversations.tools.tool import ToolContext
from tests.support.hypothesis_profile import count_cases

from .from_schema import values_of
from .functions import Booking, Cat, Colour, Even, Level, Line, Node, Pair, Point, function_of

POINT = {
    "type": "object",
    "description": "A place on the map.",
    "properties": {"x": {"type": "number"}, "y": {"type": "number", "default": 0.0}},
    "required": ["x"],
    "additionalProperties": False,
}
LINE = {
    "type": "object",
    "properties": {"start": POINT, "end": POINT, "tags": {"type": "array", "items": {"type": "string"}}},
    "required": ["start", "end"],
    "additionalProperties": False,
}
GUEST = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name"],
    "additionalProperties": False,
}
SEATS = {"type": "integer", "minimum": 1, "maximum": 12, "description": "How many come."}
BOOKING = {
    "type": "object",
    "description": "A table for an evening.",
    "properties": {"title": {"type": "string"}, "seats": SEATS},
    "required": ["title", "seats"],
    "additionalProperties": False,
}
CAT = {
    "type": "object",
    "properties": {"kind": {"type": "string", "const": "cat"}, "lives": {"type": "integer"}},
    "required": ["kind", "lives"],
    "additionalProperties": False,
}
DOG = {
    "type": "object",
    "properties": {
        "kind": {"type": "string", "const": "dog"},
        "tricks": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["kind", "tricks"],
    "additionalProperties": False,
}
TEXT, WHOLE, NUMBER, NOTHING = {"type": "string"}, {"type": "integer"}, {"type": "number"}, {"type": "null"}
PAIR = {"type": "array", "prefixItems": [WHOLE, TEXT], "minItems": 2, "maxItems": 2}

SIGNATURES = {
    "()": {},
    "(text: str)": {"text": TEXT},
    "(n: int)": {"n": WHOLE},
    "(x: float)": {"x": NUMBER},
    "(yes: bool)": {"yes": {"type": "boolean"}},
    "(nothing: None)": {"nothing": NOTHING},
    "(anything: Any)": {"anything": {}},
    "(n: int = 3)": {"n": {**WHOLE, "default": 3}},
    "(yes: bool = False)": {"yes": {"type": "boolean", "default": False}},
    "(text: str = '')": {"text": TEXT},
    "(unit: Literal['c', 'f'])": {"unit": {"type": "string", "enum": ["c", "f"]}},
    "(unit: Literal['c', 'f'] = 'c')": {"unit": {"type": "string", "enum": ["c", "f"], "default": "c"}},
    "(n: Literal[1, 2])": {"n": {"type": "integer", "enum": [1, 2]}},
    "(colour: Colour)": {"colour": {"type": "string", "enum": ["red", "blue"]}},
    "(colour: Colour = Colour.RED)": {"colour": {"type": "string", "enum": ["red", "blue"], "default": "red"}},
    "(level: Level)": {"level": {"type": "integer", "enum": [1, 2]}},
    "(names: list[str])": {"names": {"type": "array", "items": TEXT}},
    "(names: list)": {"names": {"type": "array", "items": {}}},
    "(numbers: Sequence[int])": {"numbers": {"type": "array", "items": WHOLE}},
    "(numbers: tuple[int, ...])": {"numbers": {"type": "array", "items": WHOLE}},
    "(pair: tuple[int, str])": {"pair": PAIR},
    "(pair: Pair)": {"pair": PAIR},
    "(names: set[str])": {"names": {"type": "array", "items": TEXT, "uniqueItems": True}},
    "(ns: frozenset[int] = frozenset({1}))": {
        "ns": {"type": "array", "items": WHOLE, "uniqueItems": True, "default": [1]}
    },
    "(by_name: dict[str, int])": {"by_name": {"type": "object", "additionalProperties": WHOLE}},
    "(by_name: Mapping[str, list[int]])": {
        "by_name": {"type": "object", "additionalProperties": {"type": "array", "items": WHOLE}}
    },
    "(by_name: dict)": {"by_name": {"type": "object", "additionalProperties": True}},
    "(n: Optional[int])": {"n": {"anyOf": [WHOLE, NOTHING]}},
    "(n: int | None = None)": {"n": {"anyOf": [WHOLE, NOTHING]}},
    "(n: int | str)": {"n": {"anyOf": [WHOLE, TEXT]}},
    "(n: Union[int, list[int]])": {"n": {"anyOf": [WHOLE, {"type": "array", "items": WHOLE}]}},
    "(place: Point)": {"place": POINT},
    "(place: Point = Point(1.0, 2.0))": {"place": {**POINT, "default": {"x": 1.0, "y": 2.0}}},
    "(place: Point, *, near: Point | None = None)": {"place": POINT, "near": {"anyOf": [POINT, NOTHING]}},
    "(lines: list[Line])": {"lines": {"type": "array", "items": LINE}},
    "(guest: Guest)": {"guest": GUEST},
    "(booking: Booking)": {"booking": BOOKING},
    "(pet: Cat | Dog)": {"pet": {"anyOf": [CAT, DOG]}},
    "(pet: Annotated[Cat | Dog, Field(discriminator='kind')])": {"pet": {"oneOf": [CAT, DOG]}},
    "(n: Annotated[int, Field(ge=1, le=10, description='How many.')])": {
        "n": {**WHOLE, "minimum": 1, "maximum": 10, "description": "How many."}
    },
    "(n: Annotated[int, 'How many.'] = 2)": {"n": {**WHOLE, "default": 2, "description": "How many."}},
    "(text: Annotated[str, Field(min_length=1, max_length=5)])": {"text": {**TEXT, "minLength": 1, "maxLength": 5}},
    "(code: Annotated[str, Field(pattern='^[a-z]+$')])": {"code": {**TEXT, "pattern": "^[a-z]+$"}},
    "(names: Annotated[list[str], Field(max_length=2)])": {"names": {"type": "array", "items": TEXT, "maxItems": 2}},
    "(at: dt.datetime)": {"at": {**TEXT, "format": "date-time"}},
    "(day: dt.date)": {"day": {**TEXT, "format": "date"}},
    "(time: dt.time)": {"time": {**TEXT, "format": "time"}},
    "(took: dt.timedelta)": {"took": {**TEXT, "format": "duration"}},
    "(price: Decimal)": {"price": NUMBER},
    "(price: Annotated[Decimal, Field(ge=0)])": {"price": {**NUMBER, "minimum": 0.0}},
    "(id: UUID)": {"id": {**TEXT, "format": "uuid"}},
    "(data: bytes)": {"data": {**TEXT, "format": "binary"}},
    "(a: int, /, b: int = 2, *, c: str = '')": {"a": WHOLE, "b": {**WHOLE, "default": 2}, "c": TEXT},
    "(text: str, context: ToolContext)": {"text": TEXT},
    "(title: str, description: str)": {"title": TEXT, "description": TEXT},
    "(schema: str, json: int, model_config: str, _own: int)": {
        "schema": TEXT,
        "json": WHOLE,
        "model_config": TEXT,
        "_own": WHOLE,
    },
}
ALICE = ToolContext(1, 2, 3)


def called(signature: str, arguments: object):
    """Return what a function of *signature* gets for *arguments*."""
    function = function_of(signature)
    parsed = read_signature(function)
    return parsed.call(function, parsed.parse(json.dumps(arguments)), ALICE)


@pytest.mark.parametrize(("signature", "properties"), SIGNATURES.items(), ids=SIGNATURES)
def test_a_signature_is_told_as_a_schema(signature, properties):
    parameters = inspect.signature(function_of(signature)).parameters.values()
    required = [each.name for each in parameters if each.default is each.empty and each.name != "context"]
    expected = {"type": "object", "properties": properties, "additionalProperties": False}
    assert read_signature(function_of(signature)).schema == expected | ({"required": required} if required else {})


@pytest.mark.parametrize("signature", [*SIGNATURES, "(tree: Node)"])
@settings(max_examples=count_cases(15), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_what_the_schema_asks_for_is_taken_and_stays_the_same(signature, data):
    parsed = read_signature(function_of(signature))
    arguments = json.dumps(data.draw(values_of(parsed.schema)))
    check_arguments(arguments, parsed.schema)
    values = parsed.parse(arguments)
    assert parsed.parse(parsed.adapter.dump_json(values).decode()) == values


def test_what_holds_itself_keeps_a_definition():
    schema = read_signature(function_of("(tree: Node)")).schema
    assert schema["properties"] == {"tree": {"$ref": "#/$defs/Node"}}
    assert schema["$defs"]["Node"]["properties"]["children"] == {"type": "array", "items": {"$ref": "#/$defs/Node"}}


GIVEN = {
    "(colour: Colour)": ("red", Colour.RED),
    "(level: Level)": (2, Level.HIGH),
    "(place: Point)": ({"x": 1}, Point(1.0)),
    "(line: Line)": ({"start": {"x": 1}, "end": {"x": 2}}, Line(Point(1.0), Point(2.0))),
    "(tree: Node)": ({"name": "a", "children": [{"name": "b"}]}, Node("a", [Node("b")])),
    "(pair: Pair)": ([1, "b"], Pair(1, "b")),
    "(booking: Booking)": ({"title": "t", "seats": 2}, Booking(title="t", seats=2)),
    "(pet: Cat | Dog)": ({"kind": "cat", "lives": 9}, Cat(kind="cat", lives=9)),
    "(names: set[str])": (["a", "b"], {"a", "b"}),
    "(day: dt.date)": ("2026-11-21", dt.date(2026, 11, 21)),
    "(price: Decimal)": (0.1, Decimal("0.1")),
    "(id: UUID)": ("6f9619ff-8b86-d011-b42d-00cf4fc964ff", UUID("6f9619ff-8b86-d011-b42d-00cf4fc964ff")),
    "(n: int)": ("5", 5),
}


@pytest.mark.parametrize(("signature", "given_", "expected"), [(key, *pair) for key, pair in GIVEN.items()], ids=GIVEN)
def test_a_function_gets_what_its_types_say(signature, given_, expected):
    (name,) = inspect.signature(function_of(signature)).parameters
    assert called(signature, {name: given_}) == {name: expected}


def test_what_is_left_out_is_the_functions_own_default():
    assert called("(a: int = 1, /, b: int = 2, *, c: int = 3)", {"c": 5}) == {"a": 1, "b": 2, "c": 5}


CONTEXTS = ["ToolContext", "ToolContext | None = None", "Optional[ToolContext]", "Annotated[ToolContext, 'who']"]


@pytest.mark.parametrize("written", CONTEXTS)
def test_the_context_is_given_and_can_not_be_asked_for(written):
    signature = f"(text: str, whom: {written})"
    assert called(signature, {"text": "a"}) == {"text": "a", "whom": ALICE}
    with pytest.raises(ArgumentsInvalid) as raised:
        called(signature, {"text": "a", "whom": {"user_id": 9, "conversation_id": 9, "reply_id": 9}})
    assert raised.value.detail == "whom: Extra inputs are not permitted."


@pytest.mark.parametrize(
    ("arguments", "mistake"),
    [
        ({}, "n: Field required."),
        ({"n": "five"}, "n: Input should be a valid integer"),
        ({"n": 1, "m": 2}, "m: Extra inputs are not permitted."),
        ({"n": 1, "place": {"x": "west"}}, "place.x: Input should be a valid number"),
        ({"n": 1, "place": {"x": 1, "z": 1}}, "place.z: Unexpected keyword argument."),
    ],
)
def test_a_mistake_is_told_so_that_it_can_be_mended(arguments, mistake):
    with pytest.raises(ArgumentsInvalid) as raised:
        called("(n: int, place: Point = Point(0))", arguments)
    assert mistake in raised.value.for_the_model


def test_many_mistakes_are_told_in_few_words():
    with pytest.raises(ArgumentsInvalid) as raised:
        called("(numbers: list[int])", {"numbers": ["x" * 10_000] * 1_000})
    assert len(raised.value.detail) < 1_000


def test_a_class_that_refuses_in_its_own_way_is_a_mistake_in_the_arguments():
    with pytest.raises(ArgumentsInvalid, match="do not match the tool’s schema") as raised:
        called("(even: Even)", {"even": {"n": 3}})
    assert raised.value.detail == "RuntimeError: odd"
    assert called("(even: Even)", {"even": {"n": 2}}) == {"even": Even(2)}


def test_arguments_that_are_not_json_are_broken():
    with pytest.raises(ArgumentsNotJson):
        read_signature(function_of("(n: int)")).parse('{"n": 1')


@pytest.mark.parametrize(
    ("signature", "reason"),
    [
        ("(*numbers: int)", "takes whatever there is"),
        ("(**named: int)", "takes whatever there is"),
        ("(n)", "'n' has no type"),
        ("(n: Nowhere)", "'Nowhere' is not defined"),
        ("(n: int = Field(3))", "put it into Annotated"),
        ("(then: Callable[[], int])", "JsonSchema"),
        ("(n: range)", "schema"),
    ],
)
def test_a_signature_without_a_schema_is_refused_with_the_reason(signature, reason):
    with pytest.raises(UnfitSignature, match=reason):
        read_signature(function_of(signature))


def test_a_type_of_the_result_is_not_asked_for():
    assert read_signature(function_of("(n: int) -> OnlyForCheckers")).schema["required"] == ["n"]
