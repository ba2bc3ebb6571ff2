import pytest

from conversations.core.errors import MalformedStream
from conversations.core.money.usage import Usage
from conversations.providers.openai_api.completion_stream import (
    CompletionEnd,
    CompletionReader,
    ReasoningDelta,
    TextDelta,
    TextWasReasoning,
    ToolCallDelta,
    join_text,
)


def chunk(delta, **fields):
    return {"id": "c1", "model": "m", "choices": [{"index": 0, "delta": delta, **fields}]}


def read(*chunks):
    reader = CompletionReader()
    return [event for each in chunks for event in reader.read(each)]


@pytest.mark.parametrize(
    "silent",
    [
        {},
        {"choices": []},
        {"choices": None},
        chunk({}),
        chunk(None),
        chunk({"role": "assistant"}),
        chunk({"content": None}),
        chunk({"content": ""}),
        chunk({"reasoning_content": "", "content": None}),
        chunk({"reasoning": {"no": "text"}}),
        chunk({"tool_calls": None}),
    ],
)
def test_a_chunk_that_says_nothing_yields_nothing(silent):
    assert read(silent) == []


@pytest.mark.parametrize(
    "nonsense",
    [
        [],
        "text",
        7,
        None,
        {"choices": "x"},
        {"choices": [None]},
        chunk({"content": 5}),
        chunk({"content": [{"type": "text"}]}),
        chunk({"tool_calls": [5]}),
        chunk({"tool_calls": [{"index": "first"}]}),
        chunk({"tool_calls": [{"index": float("inf")}]}),
    ],
)
def test_nonsense_is_a_malformed_stream(nonsense):
    with pytest.raises(MalformedStream):
        read(nonsense)


@pytest.mark.parametrize("nonsense", [5, "many", [1], {"prompt_tokens": -5}])
def test_usage_that_makes_no_sense_spoils_nothing(nonsense):
    reader = CompletionReader()
    assert list(reader.read({**chunk({"content": "a"}), "usage": nonsense})) == [TextDelta("a")]
    assert reader.end().usage is None


@pytest.mark.parametrize(("content", "usage"), [("a", None), ("", Usage(5, 0))])
def test_usage_without_output_is_believed_only_where_nothing_was_written(content, usage):
    reader = CompletionReader()
    list(reader.read({**chunk({"content": content}), "usage": {"prompt_tokens": 5, "completion_tokens": 0}}))
    assert reader.end().usage == usage


def test_what_llama_cpp_had_in_its_cache_stands_beside_its_usage():
    reader = CompletionReader()
    usage = {"prompt_tokens": 237, "completion_tokens": 35, "total_tokens": 272}
    list(reader.read({"choices": [], "usage": usage, "timings": {"cache_n": 236, "prompt_n": 1, "predicted_n": 35}}))
    assert reader.end().usage == Usage(237, 35, cached_input_tokens=236)


def test_text_comes_as_it_is():
    assert read(chunk({"content": "Hel"}), chunk({"content": "lo "})) == [TextDelta("Hel"), TextDelta("lo ")]


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_thoughts_are_told_apart_from_the_text(name):
    assert read(chunk({name: "They greet me."}), chunk({"content": "Hi"})) == [
        ReasoningDelta("They greet me."),
        TextDelta("Hi"),
    ]


@pytest.mark.parametrize("odd", [{"a": 1}, ["stop"], 7, True])
def test_a_finish_reason_that_is_no_text_is_none(odd):
    reader = CompletionReader()
    list(reader.read({"id": odd, "model": odd, "choices": [{"delta": {}, "finish_reason": odd}]}))
    assert reader.end() == CompletionEnd(None, None, "", "")


def test_names_of_the_provider_are_made_fit_to_be_stored():
    reader = CompletionReader()
    list(reader.read({"id": "a\x00b", "choices": [{"delta": {}, "finish_reason": "st\ud800op"}]}))
    assert (reader.end().finish_reason, reader.end().provider_request_id) == ("stop", "ab")


def test_a_refusal_is_text_that_a_person_should_read():
    assert read(chunk({"content": None, "refusal": "I can't."})) == [TextDelta("I can't.")]


def test_parts_of_content_are_joined_without_the_thinking():
    parts = [{"type": "thinking", "thinking": []}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]

    assert read(chunk({"content": parts})) == [TextDelta("ab")]


def test_a_tool_call_comes_in_pieces():
    first = {"index": 1, "id": "call_1", "function": {"name": "get_time", "arguments": ""}}
    second = {"index": 1, "function": {"arguments": '{"city"'}}

    assert read(chunk({"tool_calls": [first]}), chunk({"tool_calls": [second]})) == [
        ToolCallDelta(1, "call_1", "get_time", ""),
        ToolCallDelta(1, "", "", '{"city"'),
    ]


@pytest.mark.parametrize(
    ("arguments", "text"), [({"city": "Zürich"}, '{"city": "Zürich"}'), (None, ""), (5, "5"), ([], "[]")]
)
def test_arguments_that_are_no_text_are_taken_as_json(arguments, text):
    call = {"index": 0, "id": 7, "function": {"name": None, "arguments": arguments}}
    assert read(chunk({"tool_calls": [call]})) == [ToolCallDelta(0, "", "", text)]


def test_a_tool_call_without_index_is_numbered_by_its_place():
    calls = [{"id": "a", "function": {"name": "f"}}, {"id": "b", "function": {"name": "g"}}]

    assert [call.index for call in read(chunk({"tool_calls": calls}))] == [0, 1]


def test_the_end_has_the_last_finish_reason_and_the_last_usage():
    reader = CompletionReader()
    for each in (
        {**chunk({"content": "a"}, finish_reason=""), "usage": {"prompt_tokens": 5, "completion_tokens": 1}},
        {**chunk({}, finish_reason="stop"), "usage": {"prompt_tokens": 5, "completion_tokens": 2}},
        {"choices": [], "usage": None},
    ):
        list(reader.read(each))

    assert reader.end() == CompletionEnd("stop", Usage(5, 2), "c1", "m")


def test_the_header_names_the_request_before_the_chunks_do():
    assert CompletionReader().end(request_id="req_1").provider_request_id == "req_1"


def test_text_that_comes_together_is_joined_up_to_what_is_none():
    call = ToolCallDelta(0, "c1", "look", "{}")
    deltas = [TextDelta("a"), TextDelta("b"), ReasoningDelta("c"), ReasoningDelta("d"), TextDelta("e"), call]
    deltas += [TextWasReasoning(), TextDelta("f"), TextDelta("g")]
    assert list(join_text(iter(deltas))) == [
        TextDelta("ab"),
        *deltas[2:5],
        call,
        TextWasReasoning(),
        TextDelta("fg"),
    ]


def test_text_before_an_error_comes_before_it():
    def break_off():
        yield TextDelta("a")
        yield TextDelta("b")
        raise MalformedStream

    joined = join_text(break_off())
    assert next(joined) == TextDelta("ab")
    with pytest.raises(MalformedStream):
        next(joined)
