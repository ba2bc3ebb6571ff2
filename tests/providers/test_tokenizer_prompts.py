import pytest

from conversations.core.prompt.messages import PromptMessage, PromptToolCall
from conversations.core.window.budget import ChatFormat, LanguageModel
from conversations.providers.tokens import tokenizer
from conversations.providers.tokens.tokenizer import (
    chat_format,
    count_prompt,
    count_text,
    count_tool_schemas,
    encoding_for,
)
from tests.support.tokenizer_prompts import JARGON_EXAMPLE, WEATHER_EXAMPLE, WEATHER_TOOL


def language_model(name):
    return LanguageModel(name, 8_192, 1_024, encoding_for(name), chat_format(name))


@pytest.mark.parametrize(
    ("name", "tokens"),
    [
        ("gpt-3.5-turbo-0301", 127),
        ("gpt-3.5-turbo", 129),
        ("gpt-4-0613", 129),
        ("gpt-4", 129),
        ("gpt-4o", 124),
        ("gpt-4o-mini", 124),
    ],
)
def test_the_published_count_of_six_messages_holds(name, tokens):
    assert count_prompt(JARGON_EXAMPLE, language_model=language_model(name)) == tokens


@pytest.mark.parametrize(
    ("name", "tokens"), [("gpt-3.5-turbo", 105), ("gpt-4", 105), ("gpt-4o", 101), ("gpt-4o-mini", 101)]
)
def test_the_published_count_with_a_function_holds(name, tokens):
    assert count_prompt(WEATHER_EXAMPLE, language_model=language_model(name), tools=[WEATHER_TOOL]) == tokens


def test_no_tools_cost_nothing():
    assert count_tool_schemas([], language_model=language_model("gpt-4o")) == 0


def test_a_second_function_costs_as_much_as_the_first_without_the_end():
    gpt_4o = language_model("gpt-4o")
    one = count_tool_schemas([WEATHER_TOOL], language_model=gpt_4o)
    two = count_tool_schemas([WEATHER_TOOL, WEATHER_TOOL], language_model=gpt_4o)

    assert two == 2 * one - 12


def test_what_has_no_published_figure_is_counted_as_json():
    nested = {"type": "array", "items": {"type": "object", "properties": {"city": {"type": "string"}}}}
    tool = {"function": {"name": "f", "parameters": {"properties": {"places": nested}}}}
    flat = {"function": {"name": "f", "parameters": {"properties": {"places": {"type": "array"}}}}}
    items_tokens = count_text("o200k_base")('{"items": {"properties": {"city": {"type": "string"}}, "type": "object"}}')
    count = [count_tool_schemas([each], language_model=language_model("gpt-4o")) for each in (flat, tool)]

    assert count[1] - count[0] == items_tokens


@pytest.mark.parametrize(
    "property_schema",
    [{}, {"type": ["string", "null"]}, {"enum": [1, None, "two"]}, {"anyOf": [{"type": "string"}]}],
)
def test_unusual_schemas_are_counted(property_schema):
    tool = {
        "type": "function",
        "function": {"name": "f", "parameters": {"properties": {"x": property_schema}}},
    }

    assert count_tool_schemas([tool], language_model=language_model("gpt-4o")) > 12 + 7


def test_definitions_and_whatever_else_stands_beside_properties_is_counted():
    place = {"type": "object", "properties": {"city": {"type": "string"}}}
    properties = {"at": {"$ref": "#/$defs/Place"}}
    parameters = {"type": "object", "properties": properties, "required": ["at"]}
    plain, defined = (
        count_tool_schemas([{"function": {"name": "f", "parameters": each}}], language_model=language_model("gpt-4o"))
        for each in (parameters, parameters | {"$defs": {"Place": place}})
    )

    text = '{"$defs": {"Place": {"properties": {"city": {"type": "string"}}, "type": "object"}}}'
    assert defined - plain == count_text("o200k_base")(text)


def test_a_property_that_takes_anything_is_counted():
    tool = {"function": {"name": "f", "parameters": {"properties": {"x": True}}}}
    assert count_tool_schemas([tool], language_model=language_model("gpt-4o")) > 12 + 7 + 3 + 3


@pytest.mark.parametrize("model", ["gpt-4o", "qwen3:8b"])
def test_a_schema_of_many_nested_objects_is_counted_to_its_bottom(model):
    def nested(depth):
        schema = {"type": "string", "description": "at the bottom"}
        for _ in range(depth):
            schema = {"type": "object", "properties": {"deeper": schema}}
        return [{"function": {"name": "f", "parameters": schema}}]

    counts = [count_tool_schemas(nested(depth), language_model=language_model(model)) for depth in (50, 100, 200)]
    assert counts[2] - counts[1] > 1.9 * (counts[1] - counts[0]) > 500


def test_schemas_are_counted_once_however_they_are_ordered(monkeypatch):
    tool = {"function": {"name": "counted_once", "description": "Once.", "parameters": {"properties": {}}}}
    again = {"function": dict(reversed(tool["function"].items()))}
    first = count_tool_schemas([tool], language_model=language_model("gpt-4o"))
    monkeypatch.setattr(tokenizer, "count_text", None)
    assert count_tool_schemas([again], language_model=language_model("gpt-4o")) == first


def test_large_toolboxes_of_programs_are_not_kept_in_memory():
    """They may have megabytes each, and any text."""
    kept = tokenizer._remembered_tokens_of.cache_info().currsize
    tools = [{"function": {"name": "f", "description": "x" * tokenizer.LONGEST_REMEMBERED_CHARACTERS}}]
    assert count_tool_schemas(tools, language_model=language_model("gpt-4o")) > 10_000
    assert tokenizer._remembered_tokens_of.cache_info().currsize == kept


def test_a_changed_word_is_counted_again():
    def tool(description):
        return [{"function": {"name": "f", "description": description}}]

    short, long = (count_tool_schemas(tool(text), language_model=language_model("gpt-4o")) for text in ("a", "a b c"))
    assert long - short == 2


def test_a_function_without_parameters_is_counted():
    assert count_tool_schemas([{"function": {"name": "now"}}], language_model=language_model("gpt-4o")) == 12 + 7 + 2


def test_an_open_model_gets_the_safer_format():
    assert chat_format("qwen3:8b") == ChatFormat(tokens_per_message=4, priming_tokens=5)
    assert chat_format("gpt-5") == ChatFormat()


def test_an_open_models_tools_are_counted_as_json():
    qwen, gpt_4o = language_model("qwen3:8b"), language_model("gpt-4o")

    tools = [WEATHER_TOOL]
    assert count_tool_schemas(tools, language_model=qwen) > count_tool_schemas(tools, language_model=gpt_4o)


def test_a_tool_calls_arguments_are_counted():
    def prompt(arguments):
        call = PromptToolCall("call_1", "get_current_weather", arguments)
        return (
            PromptMessage("assistant", "", tool_calls=(call,)),
            PromptMessage("tool", "12 °C", tool_call_id="call_1"),
        )

    gpt_4o = language_model("gpt-4o")
    short = count_prompt(prompt(""), language_model=gpt_4o)
    long = count_prompt(prompt('{"location": "Paris"}'), language_model=gpt_4o)

    assert long - short == count_text("o200k_base")('{"location": "Paris"}')
