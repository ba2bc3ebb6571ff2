import pytest

from conversations.core.errors import MalformedStream
from conversations.core.usage import Usage
from conversations.providers.completion_events import (
    CompletionEnd,
    CompletionReader,
    TextDelta,
    ToolCallDelta,
    read_usage,
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
        chunk({"reasoning_content": "hm", "content": None}),
        chunk({"reasoning": "hm"}),
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
        {"choices": {}, "usage": 5},
        {"choices": [None]},
        chunk({"content": 5}),
        chunk({"content": [{"type": "text"}]}),
        chunk({"tool_calls": [5]}),
        chunk({"tool_calls": [{"index": "first"}]}),
    ],
)
def test_nonsense_is_a_malformed_stream(nonsense):
    with pytest.raises(MalformedStream):
        read(nonsense)


@pytest.mark.parametrize("tokens", ["many", -5, 10**10, float("inf"), float("nan")])
@pytest.mark.parametrize("name", ["prompt_tokens", "completion_tokens", "total_tokens"])
def test_usage_that_is_no_number_of_tokens_is_none_and_spoils_nothing(name, tokens):
    reader = CompletionReader()
    list(reader.read({"usage": {"prompt_tokens": 5, "completion_tokens": 2} | {name: tokens}}))
    assert reader.end().usage is None


def test_text_comes_as_it_is():
    assert read(chunk({"content": "Hel"}), chunk({"content": "lo "})) == [TextDelta("Hel"), TextDelta("lo ")]


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


@pytest.mark.parametrize(
    ("reported", "usage"),
    [
        ({"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}, Usage(5, 2)),
        ({"prompt_tokens": 5, "completion_tokens": None, "prompt_tokens_details": None}, Usage(5, 0)),
        ({"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": 4}}, Usage(5, 0, 4)),
        ({"prompt_tokens": 5, "prompt_cache_hit_tokens": 3}, Usage(5, 0, 3)),
        ({"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": 9}}, Usage(5, 0, 5)),
        # xAI and Gemini: reasoning only in the total
        (
            {
                "prompt_tokens": 5,
                "completion_tokens": 2,
                "total_tokens": 17,
                "completion_tokens_details": {"reasoning_tokens": 10},
            },
            Usage(5, 12, 0, 10),
        ),
    ],
)
def test_usage_is_read_as_each_provider_reports_it(reported, usage):
    assert read_usage(reported) == usage
