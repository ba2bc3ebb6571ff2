"""A loop has an end, whatever the model and its tools do."""

from __future__ import annotations

import asyncio

import pytest

from conversations.models import Completion
from conversations.providers.openai_api.completion_stream import CompletionReader
from conversations.services.replies import run_tool_calls
from tests.support.unknown_errors import raise_unknown_error, tracebacks
from tests.support.waiting import in_thread

from .tools import NotedTool, call, script


async def test_who_calls_for_ever_has_to_answer_after_the_last_step(talk_to, settings):
    settings.TOOL_STEPS = 3
    talk = await talk_to("tools-forever")
    reply = await talk.ask(script([call(x="$step")], answer="Enough."), tool := NotedTool())
    assert (reply.state, reply.content, len(tool.ran)) == ("complete", "Enough.", 3)
    assert [each["body"].get("tool_choice") for each in talk.upstream.log()] == [None, None, None, "none"]


@pytest.mark.parametrize(
    ("said", "ended"),
    [
        ([], ("failed", "tool_steps_used_up", "")),
        ([{"say": " "}], ("failed", "tool_steps_used_up", " ")),
        ([{"say": "So be it."}], ("complete", "", "So be it.")),
    ],
)
async def test_who_calls_even_then_gets_no_further_than_its_words(talk_to, settings, said, ended):
    settings.TOOL_STEPS = 2
    talk = await talk_to("tools-despite-none")
    reply = await talk.ask(script([*said, call(x="$step")]), tool := NotedTool())
    assert (reply.state, reply.error_code, reply.content) == ended
    assert (len(tool.ran), len(talk.upstream.log())) == (2, 3)


async def test_once_its_time_is_up_it_has_to_answer(talk_to, settings):
    settings.TOOL_SECONDS = 0
    talk = await talk_to("tools-forever")
    reply = await talk.ask(script([call()], answer="No time."), tool := NotedTool())
    assert (reply.state, reply.content, tool.ran) == ("complete", "No time.", [])


async def test_calls_take_no_longer_than_the_time_for_tools(talk, settings):
    settings.TOOL_SECONDS = 1

    async def hang(arguments):
        await asyncio.Event().wait()

    tool = NotedTool(answer=hang)
    tool.timeout_seconds = 600.0
    talk.clock = lambda: float(len(tool.ran) >= run_tool_calls.AT_ONCE)  # a second, once as many as may do run
    reply = await talk.ask(script([call(x=number) for number in range(6)], answer="No time."), tool)
    assert (reply.state, reply.content, len(tool.ran)) == ("complete", "No time.", run_tool_calls.AT_ONCE)
    assert set(await talk.results()) == {"The tool did not answer in time."}


async def test_a_tool_that_is_taken_away_meanwhile_is_not_called_any_more(talk):
    async def be_the_last(arguments):
        talk.tools = []
        return "seen"

    reply = await talk.ask(script([call(x=1)], [call(x=2)]), tool := NotedTool(answer=be_the_last))
    assert (reply.state, tool.ran) == ("complete", ['{"x": 1}'])
    assert [row.error_code for row in await talk.calls()] == ["", "tool_unknown"]


async def test_the_same_call_is_run_once(talk_to):
    talk = await talk_to("tools-same-twice")
    reply = await talk.ask(script([call(x=1), call(x=1), call(x=2)]), tool := NotedTool())
    assert (reply.state, sorted(tool.ran)) == ("complete", ['{"x": 1}', '{"x": 2}'])
    results = await talk.results()
    assert [result.startswith("This is the same call as before") for result in results] == [
        False, True, False, True, True, True,
    ]  # fmt: skip
    assert all('look saw {"x": 1}' in results[place] for place in (0, 1, 3, 4))


async def test_a_long_result_is_repeated_in_short(talk):
    async def tell(arguments):
        return "word " * 10_000

    await talk.ask(script([call()], [call()]), NotedTool(answer=tell))
    first, second = await talk.results()
    assert (len(first), len(second) < 400) == (50_000, True)


async def test_what_failed_may_be_tried_again_in_the_next_step(talk):
    async def fail(arguments):
        raise OSError

    await talk.ask(script([call(), call()], [call()]), tool := NotedTool(answer=fail))
    assert len(tool.ran) == 2
    assert [row.error_code for row in await talk.calls()] == ["tool_failed"] * 3


async def test_a_tool_that_hangs_is_given_up(talk, monkeypatch):
    monkeypatch.setattr(run_tool_calls, "GRACE_SECONDS", 0)
    tool = NotedTool(answer=lambda arguments: asyncio.Event().wait())
    tool.timeout_seconds = 0.05
    reply = await talk.ask(script([call()]), tool)
    assert (reply.state, [row.error_code for row in await talk.calls()]) == ("complete", ["tool_timed_out"])


async def test_a_tool_that_will_not_stop_is_left_alone(talk, monkeypatch):
    monkeypatch.setattr(run_tool_calls, "GRACE_SECONDS", 0)
    told_to_stop, may_end = asyncio.Event(), asyncio.Event()

    async def go_on(arguments):
        while not may_end.is_set():
            try:
                await may_end.wait()
            except asyncio.CancelledError:
                told_to_stop.set()
        return "too late"

    tool = NotedTool(answer=go_on)
    tool.timeout_seconds = 0.05
    reply = await talk.ask(script([call()]), tool)
    may_end.set()
    assert told_to_stop.is_set()
    assert (reply.state, await talk.results()) == ("complete", ["The tool did not answer in time."])


async def test_a_tool_that_cancels_itself_only_fails(talk):
    async def break_off(arguments):
        raise asyncio.CancelledError

    reply = await talk.ask(script([call()]), NotedTool(answer=break_off))
    assert (reply.state, await talk.results()) == ("complete", ["The tool failed. It broke off."])


async def test_a_provider_that_fails_at_a_later_step_leaves_the_steps_before(talk):
    reply = await talk.ask(script([call(x=1)], [{"say": "Well"}, {"cut": True}]), NotedTool())
    assert (reply.state, reply.content) == ("failed", "Well")
    assert [message.role for message in await talk.path()] == ["user", "assistant", "tool", "assistant"]


async def test_an_error_that_is_not_known_ends_the_reply_and_its_row(talk, monkeypatch, caplog):
    monkeypatch.setattr(CompletionReader, "_read", raise_unknown_error)
    reply = await talk.ask(script([call(x=1)]), NotedTool())
    assert (reply.state, reply.error_code) == ("failed", "malformed_stream")
    row = await in_thread(Completion.objects.get)
    assert (row.error_code, bool(row.ended_at), row.usage_estimated) == ("malformed_stream", True, True)
    assert tracebacks(caplog) == ["BufferError"]
