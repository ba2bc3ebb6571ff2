"""The request of a response: whatever comes, it is read or refused by name, and its items become messages."""

from __future__ import annotations

import json
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.core.api import response_items
from conversations.core.api.item_ids import (
    StoredId,
    conversation_id,
    read_conversation_id,
    read_message_id,
    read_response_id,
)
from conversations.core.api.response_items import read_input
from conversations.core.api.response_request import ONLY, PROPERTIES, read_response_request
from conversations.core.errors import ParameterInvalid
from conversations.core.prompt.messages import PromptMessage

HELLO = {"role": "user", "content": "Hello"}
CALL = {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "1", "output": "noon"}
ANSWER = {
    "type": "message",
    "role": "assistant",
    "id": "msg_1",
    "status": "completed",
    "content": [{"type": "output_text", "text": "Hi", "annotations": []}],
}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm"}]}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from([*sorted(PROPERTIES.keys() - {"input"}), *ONLY, "x"])
FIELDS = st.sampled_from(["type", "role", "content", "call_id", "name", "arguments", "output", "id", "x"])
VALUES = st.sampled_from(["user", "assistant", "message", "function_call", "item_reference", "1"]) | JSON
ITEMS = st.lists(
    st.sampled_from([HELLO, CALL, OUTPUT, ANSWER, REASONING]) | st.dictionaries(FIELDS, VALUES, max_size=4) | JSON,
    max_size=6,
)


def read(**fields):
    return read_response_request(json.dumps({"model": "m", "input": "Hello", **fields}).encode())


def refused(read_it, *arguments, **fields) -> str:
    with pytest.raises(ParameterInvalid) as refusal:
        read_it(*arguments, **fields)
    return refusal.value.parameter


@given(st.dictionaries(NAMES, JSON, max_size=4), ITEMS)
def test_whatever_comes_is_read_or_refused_by_name(fields, items):
    try:
        request = read_response_request(json.dumps({"model": "m", **fields, "input": items}).encode())
    except ParameterInvalid as refusal:
        written = f"{refusal.parameter}: {refusal}"
    else:
        written = json.dumps([request.chat.sampling, request.echo], allow_nan=False)
    assert written.encode()


def test_items_become_messages():
    twice = {**CALL, "call_id": "2"}
    items = [
        {"role": "developer", "content": "Be brief."},
        HELLO,
        REASONING,
        ANSWER,
        {"role": "user", "content": [{"type": "input_text", "text": "What time"}, {"type": "input_text", "text": "?"}]},
        CALL,
        twice,
        OUTPUT,
        {**OUTPUT, "call_id": "2", "output": [{"type": "input_text", "text": "one"}]},
    ]
    messages = read_input(items)
    assert messages.system_prompt == "Be brief."
    assert [message.content for message in messages.history] == ["Hello", "Hi"]
    assert messages.newest.content == "What time\n?"
    called, first, second = messages.steps
    assert [call.id for call in called.tool_calls] == ["1", "2"]
    assert (first.tool_call_id, first.content, second.content) == ("1", "noon", "one")


def test_a_call_belongs_to_the_answer_before_it_until_that_has_its_outputs():
    messages = read_input([HELLO, ANSWER, CALL, OUTPUT, {**CALL, "call_id": "2"}, {**OUTPUT, "call_id": "2"}, HELLO])
    roles = [(message.role, len(message.tool_calls)) for message in messages.history]
    assert roles == [("user", 0), ("assistant", 1), ("tool", 0), ("assistant", 1), ("tool", 0)]


def test_what_is_referred_to_is_looked_up_or_refused():
    found = {"msg_1": PromptMessage("assistant", "Hi")}
    items = [HELLO, {"type": "item_reference", "id": "msg_1"}, {"id": "rs_1"}, HELLO]
    assert [each.content for each in read_input(items, found.get).history] == ["Hello", "Hi"]
    assert refused(read_input, items) == "input[1].id"


@pytest.mark.parametrize(
    ("place", "items"),
    [
        ("input", []),
        ("input", 5),
        ("input", [ANSWER]),
        ("input[0]", ["Hello"]),
        ("input[0].type", [{"type": "web_search_call", "id": "ws_1"}]),
        ("input[0].type", [{"content": "x"}]),
        ("input[0].role", [{"role": "tool", "content": "x"}]),
        ("input[0].x", [{**HELLO, "x": 1}]),
        ("input[0].content", [{"role": "user", "content": " "}]),
        ("input[0].content[0].type", [{"role": "assistant", "content": [{"type": "input_image", "image_url": "x"}]}]),
        ("input[0].content[0].image_url", [{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]),
        ("input[0].content[0].image_url", [{"role": "user", "content": [{"type": "input_image", "file_id": "x"}]}]),
        ("input[1].call_id", [HELLO, CALL]),
        ("input[1].call_id", [HELLO, OUTPUT]),
        ("input[1].call_id", [HELLO, CALL, HELLO]),
        ("input[2].call_id", [HELLO, CALL, CALL, OUTPUT]),
        ("input[1]", [HELLO, ANSWER]),
    ],
)
def test_items_that_can_not_be_taken_are_named(place, items):
    assert refused(read_input, items) == place


@pytest.mark.parametrize(
    ("parameter", "fields"),
    [
        ("model", {"model": ""}),
        ("frob", {"frob": 1}),
        ("prompt", {"prompt": {"id": "1"}}),
        ("service_tier", {"service_tier": "flex"}),
        ("top_logprobs", {"top_logprobs": 3}),
        ("include[0]", {"include": ["web_search_call.results"]}),
        ("stream_options", {"stream_options": {"include_obfuscation": False}}),
        ("stream_options.include_obfuscation", {"stream": True, "stream_options": {"include_obfuscation": True}}),
        ("background", {"background": True, "store": False}),
        ("previous_response_id", {"previous_response_id": "resp_1", "store": False}),
        ("previous_response_id", {"previous_response_id": "resp_1", "conversation": "conv_1"}),
        ("conversation", {"conversation": {}}),
        ("conversation.x", {"conversation": {"id": "conv_1", "x": 1}}),
        ("truncation", {"truncation": "middle"}),
        ("max_output_tokens", {"max_output_tokens": 0}),
        ("temperature", {"temperature": 3}),
        ("metadata", {"metadata": {str(number): "" for number in range(17)}}),
        ("metadata.a", {"metadata": {"a": "x" * 513}}),
        ("text.format.type", {"text": {"format": {"type": "grammar"}}}),
        ("text.format.schema", {"text": {"format": {"type": "json_schema", "name": "a"}}}),
        ("text.verbosity", {"text": {"verbosity": "much"}}),
        ("reasoning.effort", {"reasoning": {"effort": "some"}}),
        ("reasoning.summary", {"reasoning": {"summary": "detailed"}}),
        ("tools[0].type", {"tools": [{"type": "web_search"}]}),
        ("tools[0].name", {"tools": [{"type": "function", "name": "a b"}]}),
        ("tool_choice", {"tool_choice": {"type": "function", "name": "f"}}),
        ("tool_choice.type", {"tool_choice": {"type": "allowed_tools", "tools": []}}),
    ],
)
def test_what_is_not_supported_is_named(parameter, fields):
    assert refused(read, **fields) == parameter


def test_it_is_read_as_the_chat_completion_that_it_asks_for():
    schema = {"type": "object", "properties": {}}
    tool = {"type": "function", "name": "f", "parameters": schema, "strict": True, "description": None}
    request = read(
        instructions="Be brief.",
        tools=[tool],
        tool_choice={"type": "function", "name": "f"},
        text={"format": {"type": "json_schema", "name": "a", "schema": schema, "strict": True}, "verbosity": "low"},
        reasoning={"effort": "low", "summary": "auto"},
        max_output_tokens=20,
        temperature=0.5,
        store=False,
        include=["reasoning.encrypted_content"],
        truncation="disabled",
    )
    chat = request.chat
    assert chat.messages.system_prompt == "Be brief."
    assert chat.tools == ({"type": "function", "function": {"name": "f", "parameters": schema, "strict": True}},)
    assert chat.sampling["tool_choice"] == {"type": "function", "function": {"name": "f"}}
    assert chat.sampling["response_format"]["json_schema"] == {"name": "a", "schema": schema, "strict": True}
    assert (chat.sampling["verbosity"], chat.sampling["temperature"], chat.effort) == ("low", 0.5, "low")
    assert (chat.most_output_tokens, chat.truncates, request.stores) == (20, False, False)
    assert request.echo["tools"] == [tool]


def test_ids_lead_back_to_ours():
    conversation = uuid.uuid4()
    assert read_conversation_id(conversation_id(conversation)) == conversation
    assert read_conversation_id(str(conversation)) == conversation
    for wrong in ("", "conv_1", conversation.hex, f"conv_{conversation}", f"{conversation}/"):
        assert read_conversation_id(wrong) is None
    stored = StoredId(conversation, 12345)
    assert read_response_id(f"resp_{stored.suffix}") == read_message_id(f"msg_{stored.suffix}") == stored
    for wrong in ("", "resp_1", f"resp_{conversation.hex}", f"resp_{conversation.hex}{'f' * 16}", stored.suffix):
        assert read_response_id(wrong) is None


def test_what_is_referred_to_is_bounded(monkeypatch):
    """A body of megabytes could name one long message ten thousand times, and each would be read."""
    monkeypatch.setattr(response_items, "MOST_REFERENCES", 3)
    monkeypatch.setattr(response_items, "MOST_REFERRED_CHARACTERS", 10)
    looked_up = []

    def find(item_id):
        looked_up.append(item_id)
        return PromptMessage("user", "x" * (1 if item_id == "msg_short" else 6))

    short, long = ({"type": "item_reference", "id": f"msg_{length}"} for length in ("short", "long"))
    assert len(read_input([short] * 3 + [HELLO], find).history) == 3
    assert refused(read_input, [short] * 50 + [HELLO], find) == "input[3]"
    assert len(looked_up) == 6
    assert refused(read_input, [long, long, HELLO], find) == "input[1]"


def test_a_role_of_null_makes_no_message_of_a_reference():
    found = PromptMessage("user", "Hello")
    assert read_input([{"id": "msg_1", "role": None}], lambda _: found).newest == found
    assert refused(read_input, [{"type": "", "role": "user", "content": "Hello"}]) == "input[0].type"
