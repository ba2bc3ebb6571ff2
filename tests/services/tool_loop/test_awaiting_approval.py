"""Changes while a reply awaits approval: documents are added and deleted, and so are tools."""

from __future__ import annotations

import pytest

from conversations.models import Completion, Document, ToolCall
from conversations.services.replies.approve_tool_call import decide_call
from tests.grounding.documents import store_document
from tests.support.people import post
from tests.support.waiting import in_thread

from .tools import NotedTool, call, script

# The words of a question are those of its script: calls, name, look, arguments.
OLD, NEW = "A heron looks and calls its name without arguments.", "Calls, names, looks, arguments: calls by name."


async def waiting_reply(talk):
    """Return a reply that was sent a passage of a document and awaits approval of a call."""
    await in_thread(store_document, talk.conversation, [OLD])
    reply = (await in_thread(post, talk.conversation, script([call()]))).reply
    await talk.begin(reply, NotedTool(needs_approval=True))
    return reply


async def allow(talk, reply):
    call = await in_thread(ToolCall.objects.get, reply=reply, state="awaiting_approval")
    decision = {"call_id": call.pk, "digest": call.digest, "allowed": True}
    await in_thread(lambda: decide_call(conversation=talk.conversation, **decision))


async def allow_and_end(talk, reply):
    await allow(talk, reply)
    return await talk.end(talk.begin(reply))


def questions(talk):
    return [prompt[0]["content"] for prompt in talk.prompts()]


async def test_documents_that_come_while_it_awaits_approval_change_nothing_in_what_it_cites(talk):
    reply = await waiting_reply(talk)
    await in_thread(lambda: store_document(talk.conversation, [NEW], name="new.md"))
    assert (await allow_and_end(talk, reply)).state == "complete"
    first, second = questions(talk)
    assert OLD in first
    assert second == first
    windows = await in_thread(list, Completion.objects.order_by("pk").values_list("window__grounding", flat=True))
    assert [window["look_up"] for window in windows] == [windows[0]["look_up"]] * 2
    assert [window["included"] for window in windows] == [windows[0]["included"]] * 2


async def test_a_document_that_goes_while_it_awaits_approval_is_not_sent_again(talk):
    reply = await waiting_reply(talk)
    await in_thread(lambda: Document.objects.get().delete())
    assert (await allow_and_end(talk, reply)).state == "complete"
    assert [OLD in question for question in questions(talk)] == [True, False]


@pytest.mark.parametrize("steps", [1, 2])
async def test_a_reply_whose_tools_have_all_been_taken_away_answers_without_them(talk, steps):
    reply = (await in_thread(post, talk.conversation, script(*[[call(x=step)] for step in range(steps)]))).reply
    await talk.begin(reply, NotedTool(needs_approval=True))
    for _ in range(steps - 1):
        await allow(talk, reply)
        await talk.begin(reply)
    talk.tools = []
    ended = await allow_and_end(talk, reply)
    assert (ended.state, (await talk.calls())[-1].error_code) == ("complete", "tool_unknown")
    asked = talk.upstream.log()[-1]["body"]
    assert ([each["function"]["name"] for each in asked["tools"]], asked["tool_choice"]) == (["look"], "none")


async def test_the_time_for_tools_goes_on_where_it_was_and_not_while_a_person_is_waited_for(talk, settings):
    settings.TOOL_SECONDS, now = 100, [0.0]
    talk.clock = lambda: now[0]

    async def look_for_a_minute(arguments):
        now[0] += 60
        return "seen"

    calls = script([call(x=1)], [call(x=2)], [call(x=3)], answer="No time.")
    reply = (await in_thread(post, talk.conversation, calls)).reply
    await talk.begin(reply, tool := NotedTool(answer=look_for_a_minute, needs_approval=True))
    await allow(talk, reply)
    await talk.begin(reply)
    now[0] += 3_600
    assert (await allow_and_end(talk, reply)).content == "No time."
    assert len(tool.ran) == 2


async def test_so_does_a_smaller_window(talk_to):
    talk = await talk_to("tools-silent-8000")

    async def tell(arguments):
        return "word " * 6_000

    reply = (await in_thread(post, talk.conversation, script([call(x=1)], [call(x=2)]))).reply
    await talk.begin(reply, NotedTool(answer=tell, needs_approval=True))
    await allow(talk, reply)
    await talk.begin(reply)
    assert (await allow_and_end(talk, reply)).state == "complete"
    rows = await in_thread(list, Completion.objects.order_by("pk").values_list("step", "error_code"))
    assert rows == [(1, ""), (2, "context_too_long"), (2, ""), (3, "")]
