"""Messages of others, read as a history: what no provider would take is refused in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.core.errors import InvalidHistory
from conversations.core.prompt.messages import PromptMessage, PromptToolCall
from conversations.core.prompt.openai_messages import read_messages

USER = {"role": "user", "content": "How warm is it?"}
REPLY = {"role": "assistant", "content": "12 degrees."}


def call(call_id="c1", **function):
    return {"id": call_id, "type": "function", "function": {"name": "weather", "arguments": "{}"} | function}


def calling(*calls):
    return {"role": "assistant", "content": None, "tool_calls": list(calls or [call()])}


def result(call_id="c1", **fields):
    return {"role": "tool", "tool_call_id": call_id, "content": "12"} | fields


def test_the_system_message_stands_apart():
    read = read_messages([{"role": "system", "content": "Be brief."}, USER, REPLY])
    assert read.system_prompt == "Be brief."
    assert read.messages == [PromptMessage("user", USER["content"]), PromptMessage("assistant", REPLY["content"])]


def test_calls_and_their_results_are_kept_in_any_order():
    read = read_messages([USER, calling(call("c1"), call("c2")), result("c2"), result("c1", name="weather"), REPLY])
    assert read.messages[1].tool_calls == (PromptToolCall("c1", "weather", "{}"), PromptToolCall("c2", "weather", "{}"))
    assert [message.tool_call_id for message in read.messages] == [None, None, "c2", "c1", None]


def test_the_same_id_may_be_used_again_in_a_later_turn():
    assert len(read_messages([USER, calling(), result(), USER, calling(), result()]).messages) == 6


def test_a_result_may_be_empty():
    assert read_messages([USER, calling(), result(content="")]).messages[-1].content == ""


def test_nul_and_lone_surrogates_are_taken_out_of_every_text():
    dirty = calling(call("c\x001", name="wea\ud800ther", arguments='"\x00"'))
    read = read_messages([{"role": "user", "content": "a\x00b\udfff"}, dirty, result("c1\x00", content="\x00")])
    assert read.messages[0].content == "ab"
    assert read.messages[1].tool_calls == (PromptToolCall("c1", "weather", '""'),)
    assert read.messages[2] == PromptMessage("tool", "", None, (), "c1")


REFUSED = [
    ([], "they contain no message"),
    ("[]", "not a list"),
    ({"role": "user"}, "not a list"),
    ([None], "not an object"),
    ([{"role": "system", "content": "Only this."}], "they contain no message"),
    ([result(), USER], "no call before it"),
    ([USER, result()], "no call before it"),
    ([USER, calling()], "no result"),
    ([USER, calling(), USER], "no result"),
    ([USER, calling(call("c1"), call("c2")), result("c1"), REPLY], "no result"),
    ([USER, calling(), result("other")], "no call before it"),
    ([USER, calling(), result(), result()], "two results"),
    ([USER, calling(), result(), REPLY, result()], "no call before it"),
    ([USER, calling(call("c1"), call("c1")), result()], "the same id"),
    ([USER, calling(call("")), result("")], "no id or no name"),
    ([USER, calling(call(name="")), result()], "no id or no name"),
    ([USER, calling(call("\x00")), result()], "no id or no name"),
    ([USER, calling(call("x" * 101)), result("x" * 101)], "more than 100"),
    ([USER, calling(call(arguments={})), result()], "not all text"),
    ([USER, calling(call(7)), result()], "not all text"),
    ([USER, calling("call"), result()], "not a function"),
    ([USER, calling({"id": "c1"}), result()], "not a function"),
    ([USER, {**REPLY, "tool_calls": {"id": "c1"}}], "not a list"),
    ([USER, {"role": "tool", "content": "12"}], "which call"),
    ([USER, calling(), result(tool_call_id=1)], "which call"),
    ([{"role": "system", "content": "A"}, {"role": "system", "content": "B"}, USER], "two system messages"),
    ([USER, {"role": "system", "content": "Late."}], "does not come first"),
    ([{"role": "wizard", "content": "Hello"}], "role"),
    ([{"role": ["user"], "content": "Hello"}], "role"),
    ([{"content": "Hello"}], "role"),
    ([{"role": "user", "content": ["Hello"]}], "not text"),
    ([{"role": "user", "content": 5}], "not text"),
    ([{"role": "user"}], "not text"),
    ([{"role": "user", "content": " \n"}], "empty"),
    ([{"role": "assistant", "content": "\x00"}], "empty"),
    ([{"role": "system", "content": ""}, USER], "empty"),
    ([{**USER, "tool_calls": [call()]}], "can’t be stored"),
    ([{"role": "system", "content": "Be brief.", "name": "Ada"}, USER], "can’t be stored"),
    ([USER, {**REPLY, "audio": {"id": "a"}}], "can’t be stored"),
]


@pytest.mark.parametrize(("given", "words"), REFUSED)
def test_what_is_no_history_is_refused_in_words(given, words):
    with pytest.raises(InvalidHistory, match=words):
        read_messages(given)


def test_what_an_answer_of_a_provider_has_besides_is_let_be_where_it_is_empty():
    assert read_messages([USER, {**REPLY, "refusal": None, "annotations": []}])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["user", "tool", "assistant"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*USER, "tool_calls", "id"]), inner),
    max_leaves=10,
)


@given(st.lists(JSON, max_size=4))
def test_any_other_json_is_read_or_refused(messages):
    try:
        read = read_messages(messages)
    except InvalidHistory:
        return
    assert read.messages
