"""What a reply that calls tools leaves behind, step by step."""

from __future__ import annotations

import json

import pytest

from conversations.core.prompt.messages import PromptToolCall
from conversations.core.tools.tool_spec import MOST_CALLS_AT_ONCE
from conversations.models import Completion
from conversations.services.replies.tool_calls import (
    LONGEST_ARGUMENTS_CHARACTERS,
    LONGEST_RESULT_CHARACTERS,
    store_calls,
)
from conversations.tools.toolbox import Toolbox
from tests.support.people import post
from tests.support.waiting import in_thread

from .tools import NotedTool, call, script


async def test_calls_and_results_stand_before_the_reply(talk):
    reply = await talk.ask(script([call(x=1), call(x=2)], [call(x=3)]), NotedTool())
    path = await talk.path()
    assert [message.role for message in path] == ["user", "assistant", "tool", "tool", "assistant", "tool", "assistant"]
    assert [message.position for message in path] == list(range(7))
    assert path[-1] == reply
    assert {message.step_of_id for message in path[1:-1]} == {reply.pk}
    assert {message.parent_id for message in path[1:]} == {path[0].pk}


async def test_the_next_request_has_each_call_with_its_result(talk):
    await talk.ask(script([call(x=1), call(x=2)]), NotedTool())
    _, prompt = talk.prompts()
    assert [each["role"] for each in prompt] == ["user", "assistant", "tool", "tool"]
    assert [each["tool_call_id"] for each in prompt[2:]] == [each["id"] for each in prompt[1]["tool_calls"]]
    assert [each["content"] for each in prompt[2:]] == ['look saw {"x": 1}', 'look saw {"x": 2}']


async def test_each_call_is_a_row_with_its_message(talk):
    await talk.ask(script([call(x=1)], [call(x=2)]), NotedTool())
    calls = await talk.calls()
    assert [(row.step, row.index, row.state) for row in calls] == [(1, 0, "succeeded"), (2, 0, "succeeded")]
    assert not any(row.result for row in calls)
    assert [row.message.content for row in calls] == ['look saw {"x": 1}', 'look saw {"x": 2}']
    assert all(row.started_at <= row.ended_at for row in calls)


async def test_text_before_a_call_stays_with_it(talk):
    reply = await talk.ask(script([{"say": "Let me see."}, call()], answer="A garden."), NotedTool())
    assert [message.content for message in await talk.path()][1:] == ["Let me see.", "look saw {}", "A garden."]
    assert (reply.state, reply.content) == ("complete", "A garden.")


@pytest.mark.parametrize("model", ["tools-no-ids", "tools-same-ids"])
async def test_calls_without_ids_of_their_own_get_some(talk_to, model):
    talk = await talk_to(model)
    reply = await talk.ask(script([call(x=1), call(x=2)], [call(x=3)]), NotedTool())
    assert reply.state == "complete"
    assert await talk.results() == [f'look saw {{"x": {x}}}' for x in (1, 2, 3)]


async def test_an_id_may_come_again_in_a_later_step(talk):
    reply = await talk.ask(script([call(x=1) | {"id": "a"}], [call(x=2) | {"id": "a"}]), NotedTool())
    assert reply.state == "complete"
    assert [each["tool_call_id"] for each in talk.prompts()[-1] if each["role"] == "tool"] == ["a", "a"]


async def test_calls_are_run_whatever_the_finish_reason_says(talk):
    reply = await talk.ask(script([call(x=1), {"finish": "stop"}]), tool := NotedTool())
    assert (reply.state, tool.ran) == ("complete", ['{"x": 1}'])


@pytest.mark.parametrize("written", ['{"x": "half', ""])
async def test_a_call_that_was_cut_is_not_run(talk, written):
    cut = {"name": "look", "arguments": written}
    reply = await talk.ask(script([call(x=1), cut, {"finish": "length"}]), tool := NotedTool())
    assert (reply.state, tool.ran) == ("complete", ['{"x": 1}'])
    assert [row.error_code for row in await talk.calls()] == ["", "tool_arguments_not_json"]
    assert talk.prompts()[1][1]["tool_calls"][1]["function"]["arguments"] == "{}"


async def test_broken_json_is_told_to_the_model_which_goes_on(talk_to):
    talk = await talk_to("tools-broken-json")
    reply = await talk.ask(script([call(x=1)]), tool := NotedTool())
    assert (reply.state, tool.ran) == ("complete", [])
    assert await talk.results() == ["The arguments were not valid JSON."]


async def test_an_unknown_tool_is_told_with_those_that_there_are(talk_to):
    talk = await talk_to("tools-unknown")
    reply = await talk.ask("Look!", NotedTool(), NotedTool("see"))
    assert reply.state == "complete"
    assert await talk.results() == ["There is no such tool here. There are: look, see."]


async def test_names_that_are_none_are_sent_on_as_one_that_is(talk):
    await talk.ask(script([call("no such\ntool!" * 20)]), NotedTool())
    assert talk.prompts()[1][1]["tool_calls"][0]["function"]["name"] == "unknown"
    assert [len(row.tool) for row in await talk.calls()] == [100]


async def test_a_tool_that_raises_ends_its_call_alone(talk):
    async def fail(arguments):
        raise ZeroDivisionError("the secret")

    reply = await talk.ask(script([call("break"), call(x=1)]), NotedTool("break", fail), NotedTool())
    assert reply.state == "complete"
    assert await talk.results() == ["The tool failed. ZeroDivisionError", 'look saw {"x": 1}']


async def test_a_tool_whose_check_raises_ends_its_call_alone(talk):
    class Unchecked(NotedTool):
        def check(self, arguments):
            raise RecursionError

    reply = await talk.ask(script([call("break"), call(x=1)]), Unchecked("break"), NotedTool())
    assert reply.state == "complete"
    assert [row.error_code for row in await talk.calls()] == ["tool_failed", ""]


async def test_ten_megabytes_are_kept_in_part(talk):
    async def shout(arguments):
        return "A\x00" * 5_000_000

    reply = await talk.ask(script([call()]), NotedTool(answer=shout))
    [result] = await talk.results()
    assert reply.state == "complete"
    assert LONGEST_RESULT_CHARACTERS // 2 <= len(result) < LONGEST_RESULT_CHARACTERS + 100


async def test_arguments_that_are_too_long_to_be_kept_are_not_taken(talk):
    asked = PromptToolCall("a", "look", json.dumps({"x": "A" * LONGEST_ARGUMENTS_CHARACTERS}))
    reply = (await in_thread(post, talk.conversation, "Look!")).reply
    toolbox = Toolbox.of([NotedTool()])
    [row] = await in_thread(lambda: store_calls(reply.pk, step=1, calls=[asked], toolbox=toolbox))
    assert (row.state, row.error_code) == ("failed", "tool_arguments_not_json")
    assert len(row.arguments) == LONGEST_ARGUMENTS_CHARACTERS


async def test_of_a_thousand_calls_a_few_are_run_and_one_row_tells_of_the_others(talk_to):
    talk = await talk_to("tools-many-1000")
    reply = await talk.ask(script([call(x=1)]), tool := NotedTool())
    assert (reply.state, len(tool.ran)) == ("complete", 1)  # they are all the same
    *_, last = await talk.results()
    assert len(await talk.calls()) == MOST_CALLS_AT_ONCE + 1
    assert last.startswith("Too many tools were called at once")
    assert last.endswith("were left out.")


async def test_calls_of_who_was_told_of_no_tools_are_noise_beside_a_text(talk_to):
    talk = await talk_to("tools-despite-none")
    reply = await talk.ask(script([{"say": "Hello."}, call()]))
    assert (reply.state, reply.content, await talk.calls()) == ("complete", "Hello.", [])


async def test_what_a_refusal_without_numbers_taught_holds_for_the_steps_after_it(talk_to):
    async def tell(arguments):
        return "word " * 6_000

    talk = await talk_to("tools-silent-8000")
    reply = await talk.ask(script([call(x=1)], [call(x=2)], [call(x=3)]), NotedTool(answer=tell))
    assert reply.state == "complete"
    rows = await in_thread(list, Completion.objects.order_by("pk").values_list("step", "error_code"))
    assert rows == [(1, ""), (2, "context_too_long"), (2, ""), (3, ""), (4, "")]
