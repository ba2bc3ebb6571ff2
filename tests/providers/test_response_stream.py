"""The events of a response, read as the deltas of a completion."""

from __future__ import annotations

import pytest

from conversations.core.errors import CompletionError, ContextTooLong, MalformedStream, RateLimited
from conversations.core.prompt.messages import PromptToolCall
from conversations.providers.openai_api.completion_stream import (
    MOST_CALLS,
    ReasoningDelta,
    TextDelta,
    ToolCallCollector,
    ToolCallDelta,
)
from conversations.providers.openai_api.reasoning_fields import MOST_KEPT_CHARACTERS
from conversations.providers.openai_api.response_stream import ResponseReader

USAGE = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 32},
    "output_tokens": 50,
    "output_tokens_details": {"reasoning_tokens": 40},
    "total_tokens": 150,
}


def event(kind, **fields):
    return {"type": f"response.{kind}", "sequence_number": 0, **fields}


def text(piece):
    return event("output_text.delta", output_index=0, content_index=0, delta=piece, logprobs=[], obfuscation="x")


def ended(status="completed", **fields):
    return event(status, response={"id": "resp_1", "model": "m-1", "status": status, "error": None, **fields})


def call(place, name="look", arguments="", **fields):
    item = {"type": "function_call", "id": f"fc_{place}", "call_id": f"call_{place}", "name": name}
    return {"output_index": place, "item": item | {"arguments": arguments} | fields}


def read(*events):
    reader = ResponseReader()
    deltas = [delta for each in events for delta in reader.read(each)]
    return [*deltas, *reader.finish()], reader.end()


def calls_of(deltas):
    calls = ToolCallCollector()
    for delta in deltas:
        if isinstance(delta, ToolCallDelta):
            calls.take(delta)
    return calls.calls(step=1)


def test_text_usage_and_end():
    deltas, end = read(event("created", response={"id": "resp_1"}), text("Hel"), text("lo"), ended(usage=USAGE))
    assert deltas == [TextDelta("Hel"), TextDelta("lo")]
    assert (end.finish_reason, end.provider_request_id, end.language_model) == ("stop", "resp_1", "m-1")
    assert (end.usage.input_tokens, end.usage.cached_input_tokens, end.usage.cache_write_tokens) == (100, 64, 32)
    assert (end.usage.output_tokens, end.usage.reasoning_tokens) == (50, 40)


@pytest.mark.parametrize("kind", ["reasoning_summary_text.delta", "reasoning_text.delta", "reasoning.delta"])
def test_reasoning_has_several_names(kind):
    deltas, _ = read(event(kind, output_index=0, delta="Hm."), text("Hello"), ended())
    assert deltas == [ReasoningDelta("Hm."), TextDelta("Hello")]


def test_parts_of_a_summary_are_paragraphs():
    parts = [
        event("reasoning_summary_text.delta", output_index=0, summary_index=n, delta=d)
        for n, d in [(0, "a"), (0, "b"), (1, "c")]
    ]
    assert read(*parts)[0] == [ReasoningDelta("a"), ReasoningDelta("b"), ReasoningDelta("\n\nc")]


def test_a_refusal_is_text():
    assert read(event("refusal.delta", output_index=0, delta="No."))[0] == [TextDelta("No.")]


@pytest.mark.parametrize(
    "events",
    [
        # in pieces, then said again when it is done
        [
            event("output_item.added", **call(0)),
            event("function_call_arguments.delta", output_index=0, delta='{"x"'),
            event("function_call_arguments.delta", output_index=0, delta=": 1}"),
            event("function_call_arguments.done", output_index=0, arguments='{"x": 1}'),
            event("output_item.done", **call(0, arguments='{"x": 1}')),
        ],
        # whole, when they are done
        [
            event("output_item.added", **call(0)),
            event("function_call_arguments.done", output_index=0, arguments='{"x": 1}'),
        ],
        # only in the item that is done, which was never begun
        [event("output_item.done", **call(0, arguments='{"x": 1}'))],
        # in the item that begins
        [
            event("output_item.added", **call(0, arguments='{"x": 1}')),
            event("output_item.done", **call(0, arguments='{"x": 1}')),
        ],
        # pieces before it begins
        [
            event("function_call_arguments.delta", output_index=0, delta='{"x": 1}'),
            event("output_item.added", **call(0)),
        ],
        # a part in pieces, then whole
        [
            event("output_item.added", **call(0)),
            event("function_call_arguments.delta", output_index=0, delta='{"x"'),
            event("output_item.done", **call(0, arguments='{"x": 1}')),
        ],
        # something that stands for the arguments in the item that begins
        [
            event("output_item.added", **call(0, arguments="{}")),
            event("function_call_arguments.delta", output_index=0, delta='{"x": 1}'),
            event("function_call_arguments.done", output_index=0, arguments='{"x": 1}'),
        ],
        # an object in place of its JSON text
        [event("output_item.done", **call(0, arguments={"x": 1}))],
        # ids that change on the way, as some servers' do
        [
            event("output_item.added", **call(0)),
            event("function_call_arguments.delta", output_index=0, item_id="other", delta='{"x": 1}'),
            event("output_item.done", **call(0, arguments='{"x": 1}', id="another")),
        ],
    ],
)
def test_a_call_is_put_together_however_it_comes(events):
    deltas, end = read(*events, ended())
    assert calls_of(deltas) == (PromptToolCall("call_0", "look", '{"x": 1}'),)
    assert end.finish_reason == "tool_calls"


def test_reasoning_items_are_kept_in_their_places_among_the_calls():
    def reasoning(place):
        item = {
            "type": "reasoning",
            "id": f"rs_{place}",
            "summary": [],
            "encrypted_content": f"enc{place}",
            "status": None,
        }
        return event("output_item.done", output_index=place, item=item)

    events = [reasoning(0), event("output_item.done", **call(1)), reasoning(2), event("output_item.done", **call(3))]
    assert read(*events)[1].kept == {
        "items": [
            {"type": "reasoning", "id": "rs_0", "summary": [], "encrypted_content": "enc0"},
            {"call": 0},
            {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "enc2"},
            {"call": 1},
        ]
    }


@pytest.mark.parametrize(
    ("reason", "finish_reason"),
    [
        ("max_output_tokens", "length"),
        ("content_filter", "content_filter"),
        ("steered", "steered"),
        (None, "incomplete"),
    ],
)
def test_an_incomplete_response_says_why(reason, finish_reason):
    _, end = read(text("Hel"), ended("incomplete", incomplete_details={"reason": reason} if reason else None))
    assert end.finish_reason == finish_reason


def test_a_stream_without_its_last_event_has_no_finish_reason():
    assert read(text("Hello"))[1].finish_reason is None


@pytest.mark.parametrize(
    ("failed", "error"),
    [
        (ended("failed", error={"code": "rate_limit_exceeded", "message": "Slow down."}), RateLimited),
        ({"type": "error", "code": "context_length_exceeded", "message": "Your input exceeds."}, ContextTooLong),
        ({"type": "error", "code": None, "message": "Overloaded."}, CompletionError),
    ],
)
def test_a_failure_is_an_error_of_our_tree(failed, error):
    with pytest.raises(error):
        read(text("Hel"), failed)


def test_events_that_are_not_known_are_passed_over():
    events = [event("reasoning_part.added", item_id="x"), event("queued", response={}), {"type": "acme:thing"}]
    assert read(*events, text("Hello"), ended())[0] == [TextDelta("Hello")]


@pytest.mark.parametrize(
    "wrong", [None, [], "x", {}, {"type": "response.completed"}, {"type": "response.output_text.delta"}]
)
def test_what_is_no_event_is_malformed(wrong):
    with pytest.raises(MalformedStream):
        read(wrong)


def whole(place, kind, **fields):
    return {"output_index": place, "item": {"type": kind, "id": f"item_{place}"} | fields}


SUMMARY = whole(0, "reasoning", summary=[{"type": "summary_text", "text": "I add."}])
MESSAGE = whole(1, "message", content=[{"type": "output_text", "text": "It is 4."}])
SAID = [ReasoningDelta("I add."), TextDelta("It is 4.")]


def test_items_that_come_only_when_they_are_done_are_read_whole():
    deltas, end = read(event("output_item.done", **SUMMARY), event("output_item.done", **MESSAGE), ended())
    assert (deltas, end.finish_reason) == (SAID, "stop")


def test_a_response_that_comes_only_as_a_whole_is_read():
    deltas, _ = read(ended(output=[SUMMARY["item"], MESSAGE["item"]]))
    assert deltas == SAID


def test_what_came_in_pieces_is_not_told_again_even_under_another_index():
    done = event("output_item.done", **{**MESSAGE, "output_index": 7})
    deltas, _ = read(text("It is "), text("4."), done, ended(output=[MESSAGE["item"]]))
    assert deltas == [TextDelta("It is "), TextDelta("4.")]


@pytest.mark.parametrize("pieces", [["<think>I add.</think>It is 4."], list("<think>I add.</think>It is 4.")])
def test_tags_in_the_text_are_thoughts(pieces):
    deltas, _ = read(*map(text, pieces), ended())
    assert "".join(delta.text for delta in deltas if isinstance(delta, ReasoningDelta)) == "I add."
    assert "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)) == "It is 4."


def test_tags_are_text_where_thoughts_come_as_summaries():
    summary = event("reasoning_summary_text.delta", output_index=0, summary_index=0, delta="I add.")
    deltas, _ = read(summary, text("<think>no</think>"), ended())
    assert deltas == [ReasoningDelta("I add."), TextDelta("<think>no</think>")]


def test_a_message_that_comes_only_with_the_whole_response_is_told_beside_thoughts_in_pieces():
    summary = event("reasoning_summary_text.delta", output_index=0, summary_index=0, delta="I add.")
    assert read(summary, ended(output=[SUMMARY["item"], MESSAGE["item"]]))[0] == SAID


def test_what_comes_only_with_the_whole_response_is_told_beside_calls():
    output = [call(0)["item"], MESSAGE["item"], call(2, "see", "{}")["item"]]
    deltas, _ = read(event("output_item.added", **call(0)), ended(output=output))
    assert [delta.text for delta in deltas if isinstance(delta, TextDelta)] == ["It is 4."]
    assert [(made.id, made.name) for made in calls_of(deltas)] == [("call_0", "look"), ("call_2", "see")]


def test_a_second_message_that_comes_only_when_it_is_done_is_told():
    second = whole(2, "message", content=[{"type": "output_text", "text": " Or 5."}])
    events = [event("output_text.delta", output_index=1, delta="It is 4."), event("output_item.done", **MESSAGE)]
    deltas, _ = read(*events, event("output_item.done", **second), ended(output=[MESSAGE["item"], second["item"]]))
    assert deltas == [TextDelta("It is 4."), TextDelta(" Or 5.")]


def test_a_second_message_that_comes_only_with_the_whole_response_is_told():
    second = whole(2, "message", content=[{"type": "output_text", "text": " Or 5."}])
    deltas, _ = read(text("It is  4."), ended(output=[MESSAGE["item"], second["item"]]))
    assert "".join(delta.text for delta in deltas).endswith(" Or 5.")


@pytest.mark.parametrize("indexes", [(0, 0), (0, 5), (None, None)])
@pytest.mark.parametrize("streamed", [("It is ", "4."), ("<think>I add.</think>", "It is 4.")])
def test_a_text_in_pieces_is_told_once_under_whatever_indexes(indexes, streamed):
    events = [event("output_text.delta", output_index=i, delta=d) for i, d in zip(indexes, streamed, strict=True)]
    done = event("output_item.done", **MESSAGE)
    deltas, _ = read(*events, done, done, ended(output=[MESSAGE["item"]]))
    assert "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)) == "It is 4."


def numbered(number, piece):
    return text(piece) | {"sequence_number": number}


def test_an_event_that_is_sent_twice_is_read_once():
    deltas, _ = read(numbered(1, "Ha"), numbered(2, "ha"), numbered(1, "Ha"), numbered(2, "ha"), numbered(3, "ha"))
    assert deltas == [TextDelta("Ha"), TextDelta("ha"), TextDelta("ha")]


def test_numbers_that_all_events_have_alike_say_nothing():
    deltas, _ = read(event("created", response={}), text("ha"), text("ha"), text("ha"))
    assert deltas == [TextDelta("ha")] * 3


@pytest.mark.parametrize("index", [None, "a", True, 1.5, [1]])
@pytest.mark.parametrize("kind", ["reasoning", "function_call"])
def test_an_output_index_that_is_no_whole_number_is_malformed(index, kind):
    with pytest.raises(MalformedStream):
        read(event("output_item.done", **whole(0, "reasoning")), event("output_item.done", **whole(index, kind)))


def test_what_is_no_item_of_the_whole_response_spoils_nothing():
    deltas, end = read(text("Hello"), ended(output=[None, 5, {"type": "message", "content": [7, {"text": 8}]}]))
    assert (deltas, end.finish_reason) == ([TextDelta("Hello")], "stop")


def test_usage_without_output_is_believed_only_where_nothing_was_written():
    usage = {"input_tokens": 5, "output_tokens": 0}
    assert read(text("Hello"), ended(usage=usage))[1].usage is None
    assert read(ended(usage=usage))[1].usage is not None


class CountedIndex(int):
    """A number that counts how often one is compared with another."""

    compared = 0

    def __eq__(self, other):
        CountedIndex.compared += 1
        return int(self) == other

    __hash__ = int.__hash__


def test_a_call_is_found_without_a_search_and_most_are_left_out():
    CountedIndex.compared = 0
    events = [event("output_item.added", **(call(n) | {"output_index": CountedIndex(n)})) for n in range(2_000)]
    deltas, end = read(*events, ended())
    assert len(deltas) == MOST_CALLS
    assert end.finish_reason == "tool_calls"
    assert CountedIndex.compared < 2 * len(events)


def test_reasoning_that_is_too_long_to_be_sent_back_is_not_kept():
    half = "x" * (MOST_KEPT_CHARACTERS // 2)
    items = [event("output_item.done", **whole(n, "reasoning", encrypted_content=half)) for n in range(3)]
    assert list(read(items[0], ended())[1].kept) == ["items"]
    kept = read(*items, ended())[1].kept
    assert list(kept) == ["too_long"]
    assert kept["too_long"]["items"] > MOST_KEPT_CHARACTERS
