"""The request of a chat completion: whatever comes, it is read or refused by name, and nothing else happens."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.core.api.chat_messages import read_chat_messages
from conversations.core.api.chat_request import ONLY, SAMPLING, read_chat_request
from conversations.core.errors import ParameterInvalid

HELLO = {"role": "user", "content": "Hello"}
CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CALLS = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "1", "content": "noon"}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(
    [*SAMPLING, *ONLY, "tools", "tool_choice", "stream", "stream_options", "max_tokens", "reasoning_effort", "x"]
)
FIELDS = st.sampled_from(["role", "content", "name", "tool_calls", "tool_call_id", "refusal", "x"])
VALUES = st.sampled_from(["user", "assistant", "tool", "system", [CALL], "1"]) | JSON
MESSAGES = st.lists(
    st.sampled_from([HELLO, CALLS, RESULT]) | st.dictionaries(FIELDS, VALUES, max_size=4) | JSON, max_size=6
)


def read(**fields):
    return read_chat_request(json.dumps({"model": "m", "messages": [HELLO], **fields}).encode())


def refused(read_it, *arguments) -> str:
    with pytest.raises(ParameterInvalid) as refusal:
        read_it(*arguments)
    return refusal.value.parameter


@given(st.dictionaries(NAMES, JSON, max_size=4), MESSAGES)
def test_whatever_comes_is_read_or_refused_by_name(fields, messages):
    try:
        request = read_chat_request(json.dumps({"model": "m", **fields, "messages": messages}).encode())
    except ParameterInvalid as refusal:
        written = f"{refusal.parameter}: {refusal}"
    else:
        written = json.dumps([request.sampling, request.tools], allow_nan=False)
    assert written.encode()


@pytest.mark.parametrize(
    ("properties", "parameter"),
    [
        ([1], "properties"),
        (None, "properties"),
        ({"a": 5}, "properties.a"),
        ({"a": None}, "properties.a"),
        ({"a": {"enum": 5}}, "properties.a.enum"),
        ({"a": {"description": 5}}, "properties.a.description"),
    ],
)
def test_parameters_of_tools_that_are_no_schema_are_named(properties, parameter):
    """They are counted part by part, so each has to be one."""
    tool = {"type": "function", "function": {"name": "f", "parameters": {"properties": properties}}}
    where = f"tools[0].function.parameters.{parameter}"
    assert refused(lambda: read(tools=[tool])) == where


def test_parameters_of_tools_may_be_anything_a_schema_may():
    properties = {"a": True, "b": {}, "c": {"type": ["string", "null"], "enum": [None, 1]}}
    tool = {"type": "function", "function": {"name": "f", "parameters": {"properties": properties}}}
    assert read(tools=[tool]).tools == (tool,)


@given(st.binary(max_size=50))
def test_whatever_bytes_come_they_are_refused(body):
    assert refused(read_chat_request, body)


def test_messages_are_parted():
    system = {"role": "developer", "content": "Be brief."}
    later = {"role": "system", "content": "Now in French."}
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    read_parts = read_chat_messages(
        [system, HELLO, CALLS, RESULT, later, {"role": "user", "content": parts}, CALLS, RESULT]
    )
    assert read_parts.system_prompt == "Be brief."
    assert [message.role for message in read_parts.history] == ["user", "assistant", "tool", "system"]
    assert read_parts.newest.content == "a\nb"
    assert [message.role for message in read_parts.steps] == ["assistant", "tool"]
    assert (read_parts.first_place, read_parts.newest_place) == (1, 5)


@pytest.mark.parametrize(
    ("messages", "parameter"),
    [
        ([HELLO, CALLS], "messages[1].tool_calls"),
        ([HELLO, CALLS, HELLO], "messages[1].tool_calls"),
        ([HELLO, RESULT], "messages[1].tool_call_id"),
        ([HELLO, CALLS, RESULT, RESULT], "messages[3].tool_call_id"),
        ([HELLO, {**CALLS, "tool_calls": [CALL, CALL]}, RESULT], "messages[1].tool_calls"),
        ([HELLO, {"role": "assistant", "content": "x"}], "messages[1]"),
        ([{**HELLO, "content": " "}], "messages[0].content"),
        ([{**HELLO, "content": [{"type": "image_url"}]}], "messages[0].content[0].image_url.url"),
        ([{**HELLO, "audio": {}}], "messages[0].audio"),
        ([{**HELLO, "role": ["user"]}], "messages[0].role"),
        (["x"], "messages[0]"),
        ([], "messages"),
        ("Hello", "messages"),
    ],
)
def test_what_a_provider_would_refuse_is_refused_with_its_place(messages, parameter):
    assert refused(read_chat_messages, messages) == parameter


def test_what_the_package_sends_back_of_an_answer_is_taken():
    answer = {"role": "assistant", "content": "Hi", "refusal": None, "annotations": [], "audio": None}
    assert read_chat_messages([HELLO, {**answer, "tool_calls": None, "reasoning_content": "hm"}, HELLO]).history


def test_null_says_nothing_and_the_rest_is_named():
    assert read(temperature=None, logprobs=False, n=1).sampling == {}
    with pytest.raises(ParameterInvalid, match="top_logprobs can’t be taken: it is not supported"):
        read(top_logprobs=2)
    with pytest.raises(ParameterInvalid, match="max_tokens can’t be taken: max_completion_tokens says the same"):
        read(max_tokens=1, max_completion_tokens=1)


def test_sampling_tools_and_formats_go_through():
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}, "strict": True}}
    schema = {"type": "json_schema", "json_schema": {"name": "s", "schema": {"type": "object"}}}
    choice = {"type": "function", "function": {"name": "f"}}
    request = read(tools=[tool], tool_choice=choice, response_format=schema, stop=["a"], seed=1, stream=True)
    assert request.tools == (tool,)
    assert request.sampling == {"tool_choice": choice, "response_format": schema, "stop": ["a"], "seed": 1}
    assert "schema" in request.extra_prompt
    assert not read(tools=[tool], tool_choice="none").may_call


TOOL = {"type": "function", "function": {"name": "f"}}
SCHEMA = {"name": "s", "schema": {}}


@pytest.mark.parametrize(
    ("fields", "parameter"),
    [
        ({"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": []}}}, "tool_choice"),
        (
            {"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "f", "x": 1}}},
            "tool_choice.function.x",
        ),
        (
            {"response_format": {"type": "json_schema", "json_schema": {**SCHEMA, "strict": 1}}},
            "response_format.json_schema.strict",
        ),
        (
            {"response_format": {"type": "json_schema", "json_schema": {**SCHEMA, "description": 1}}},
            "response_format.json_schema.description",
        ),
        ({"stream": True, "stream_options": {"include_obfuscation": 0}}, "stream_options.include_obfuscation"),
    ],
)
def test_what_would_change_nothing_is_refused_all_the_same(fields, parameter):
    assert refused(lambda: read(**fields)) == parameter


def test_a_whole_number_may_be_written_with_a_point():
    request = read(max_tokens=20.0, seed=1.0, n=1.0)
    assert (request.most_output_tokens, request.sampling) == (20, {"seed": 1})
    assert refused(lambda: read(max_tokens=20.5)) == "max_tokens"
