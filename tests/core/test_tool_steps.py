"""How the results of a turn's tool calls share their room."""

import json

import pytest

from conversations.core.prompt.messages import PromptMessage, PromptToolCall
from conversations.core.window.budget import ChatFormat, message_tokens
from conversations.core.window.tool_steps import ToolSteps, truncate_step
from conversations.core.window.truncation import TRUNCATION_MARK, truncate_text

from .languages import WITHOUT_OVERHEAD, by_character, message, tool_call, tool_result


def steps_of(*contents, chat_format=WITHOUT_OVERHEAD, **fields):
    """Return one call with a result for each of *contents*."""
    ids = "abcdef"[: len(contents)]
    call = tool_call(1, ids=ids, chat_format=chat_format)
    results = [
        tool_result(number, content, call_id=call_id, chat_format=chat_format, **fields)
        for number, (call_id, content) in enumerate(zip(ids, contents, strict=True), start=2)
    ]
    return ToolSteps((call, *results), chat_format, by_character)


def sent_contents(steps, room_tokens):
    return [sent.message.message.content for sent in steps.fit(room_tokens)][1:]


def test_no_steps_take_nothing():
    steps = ToolSteps((), WITHOUT_OVERHEAD, by_character)
    assert (steps.smallest_tokens, steps.fit(100)) == (0, ())


def test_the_smallest_they_can_be_is_their_calls_and_a_mark_for_each_result():
    steps = steps_of("x" * 100, "x" * 200)
    call_tokens = 2 * len("af{}")
    assert steps.smallest_tokens == call_tokens + len("a" + "b") + 2 * len(TRUNCATION_MARK)
    assert sent_contents(steps, 0) == [TRUNCATION_MARK, TRUNCATION_MARK]


def test_a_result_smaller_than_the_mark_is_never_cut():
    assert sent_contents(steps_of("ok", ""), 0) == ["ok", ""]


def test_with_room_for_all_nothing_is_cut():
    assert sent_contents(steps_of("x" * 100, "y" * 200), 300) == ["x" * 100, "y" * 200]


def test_the_small_results_are_whole_before_the_large_one_is_cut():
    small, large, other = sent_contents(steps_of("s" * 20, "l" * 1_000, "o" * 30), 200)
    assert (small, other) == ("s" * 20, "o" * 30)
    assert large.endswith(TRUNCATION_MARK)
    assert 200 - 20 - 30 <= len(large) <= 200


def test_two_large_results_are_cut_alike():
    first, second = sent_contents(steps_of("f" * 5_000, "s" * 1_000), 200)
    assert abs(len(first) - len(second)) <= 1
    assert len(first) + len(second) == 200 + 2 * len(TRUNCATION_MARK)


def test_what_is_sent_is_what_is_stored_cut_where_the_step_says():
    steps = steps_of("word " * 100)
    sent = steps.fit(50)[1]
    assert sent.message.message.content == truncate_text("word " * 100, sent.truncated_to)
    assert sent.message.position == steps.messages[1].position


def test_a_cut_result_is_counted_as_it_is_rendered_with_its_name():
    steps = steps_of("word " * 100, chat_format=ChatFormat(), name="find")
    for sent in steps.fit(50):
        rendered = message_tokens(sent.message.message, count_text=by_character, chat_format=ChatFormat())
        assert sent.message.tokens(ChatFormat()) == rendered


def test_a_cut_result_never_takes_more_than_its_part():
    steps = steps_of("word " * 100, chat_format=ChatFormat(), name="find")
    tokens = sum(sent.message.tokens(ChatFormat()) for sent in steps.fit(50))
    assert steps.smallest_tokens < tokens <= steps.smallest_tokens + 50


@pytest.mark.parametrize("limit_tokens", [0, 30, 31, 100, 500, 999])
def test_arguments_are_truncated_to_what_they_may_take_and_stay_json(limit_tokens):
    call = tool_call(1, arguments=json.dumps({"note": 'a "quoted" word ' * 60}))
    steps = ToolSteps((call, tool_result(2, "found")), WITHOUT_OVERHEAD, by_character)
    truncated = steps.with_truncated_arguments(limit_tokens)
    sent, _ = truncated.fit(0)
    smallest = len("af" + '{"truncated": "[…]"}' + "a" + TRUNCATION_MARK)
    assert truncated.smallest_tokens <= max(limit_tokens, smallest)
    assert sent.message.message == truncate_step(call.message, sent.truncated_to)
    assert json.loads(sent.message.message.tool_calls[0].arguments)["truncated"].endswith(TRUNCATION_MARK)
    longer = truncate_step(call.message, sent.truncated_to + 12).tool_calls[0].arguments
    assert limit_tokens < smallest or len("af" + longer + "a" + TRUNCATION_MARK) > limit_tokens


def test_short_arguments_beside_long_ones_stay_whole():
    calls = (PromptToolCall("a", "f", "{}"), PromptToolCall("b", "f", json.dumps({"note": "x" * 500})))
    message_of_calls = PromptMessage("assistant", "", tool_calls=calls)
    short, long = truncate_step(message_of_calls, 10).tool_calls
    assert (short.arguments, json.loads(long.arguments)) == ("{}", {"truncated": '{"note": " […]'})


def test_calls_are_sent_whole_however_long():
    call = tool_call(1, arguments="x" * 1_000)
    steps = ToolSteps((call, tool_result(2, "found")), WITHOUT_OVERHEAD, by_character)
    assert steps.fit(0)[0].message == call


def test_ten_megabytes_of_a_result_cost_what_is_sent_of_them():
    counted = []
    call, result = tool_call(1), message(2, "", role="tool", tool_call_id="a")
    content = "all is well. " * 800_000
    result = result._replace(message=result.message._replace(content=content), content_tokens=len(content))
    steps = ToolSteps((call, result), WITHOUT_OVERHEAD, lambda text: counted.append(len(text)) or len(text))
    assert len(steps.fit(1_000)[1].message.message.content) <= 1_000 + len(TRUNCATION_MARK)
    assert sum(counted) < 50_000
