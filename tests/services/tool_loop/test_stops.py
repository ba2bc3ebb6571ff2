"""A reply that calls tools may be stopped at any moment: what came is kept, and nothing is run after it."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress

import pytest
from django.db import transaction
from django.db.models.functions import Now

from conversations.models import Completion, Message, Run
from conversations.providers.openai_api.completion_stream import CompletionEnd
from conversations.runs.claim import claim_runs
from conversations.runs.live_reply import StepText
from conversations.runs.save_text import save_texts
from conversations.services.replies import make_reply
from tests.support.patience import PATIENCE_SECONDS
from tests.support.people import post
from tests.support.waiting import in_thread, wait_for_lock_waits, wait_until

from .tools import NotedTool, call, script


class HangingTool(NotedTool):
    """Says when it has begun, and when it was told to stop."""

    def __init__(self) -> None:
        super().__init__(answer=self._hang)
        self.begun, self.stopped = asyncio.Event(), asyncio.Event()

    async def _hang(self, arguments):
        self.begun.set()
        try:
            return await asyncio.Event().wait()
        finally:
            self.stopped.set()


async def posted(talk, *steps, **more):
    return (await in_thread(post, talk.conversation, script(*steps, **more))).reply


async def stop(talk, making):
    """Stop the reply and return it as it ended: no tool's own time is waited for, which would be ten minutes."""
    making.cancel()
    async with asyncio.timeout(PATIENCE_SECONDS):
        return await talk.end(making)


async def test_a_running_call_is_stopped_at_once(talk):
    making = talk.begin(await posted(talk, [{"say": "Well"}, call()]), tool := HangingTool())
    await tool.begun.wait()
    reply = await stop(talk, making)
    assert (reply.state, reply.content, tool.stopped.is_set()) == ("stopped", "Well", True)
    assert [(row.state, bool(row.started_at), bool(row.ended_at)) for row in await talk.calls()] == [
        ("stopped", True, True)
    ]


async def test_a_stopped_call_is_in_no_prompt_and_the_next_message_is_answered(talk):
    making = talk.begin(await posted(talk, [call(x=1)], [call(x=2), call("hang")]), NotedTool(), NotedTool("hang"))
    talk.tools[1] = tool = HangingTool()
    talk.tools[1].spec = NotedTool("hang").spec
    await tool.begun.wait()
    await stop(talk, making)
    reply = await talk.ask(script(), NotedTool())
    assert reply.state == "complete"
    assert [each["role"] for each in talk.prompts()[-1]] == ["user", "assistant", "tool", "user"]


async def test_calls_that_wait_for_their_turn_are_never_begun(talk):
    making = talk.begin(await posted(talk, [call(x=x) for x in range(9)]), tool := HangingTool())
    await tool.begun.wait()
    await stop(talk, making)
    calls = await talk.calls()
    assert {row.state for row in calls} == {"stopped"}
    assert sum(row.started_at is None for row in calls) >= 5


async def test_a_call_that_is_just_beginning_and_the_end_of_its_reply_wait_for_each_other_in_one_order(talk):
    making = talk.begin(await posted(talk, [call(x=1), call(x=2)]), tool := HangingTool())
    await tool.begun.wait()
    reply = await in_thread(Message.objects.get, pk=int(making.get_name()))
    await wait_until(lambda: reply.calls.filter(started_at__isnull=False).count() == 2)  # else the second waits, too
    run_is_locked, may_begin = threading.Event(), threading.Event()

    def begin_a_call():
        with transaction.atomic():
            Run.objects.select_for_update(no_key=True).get(reply=reply)
            run_is_locked.set()
            may_begin.wait(PATIENCE_SECONDS)
            reply.calls.update(started_at=Now())

    beginning = asyncio.ensure_future(in_thread(begin_a_call))
    assert await in_thread(run_is_locked.wait, PATIENCE_SECONDS)
    ending = asyncio.ensure_future(stop(talk, making))
    await in_thread(wait_for_lock_waits)
    may_begin.set()
    await beginning
    assert (await ending).state == "stopped"
    assert {row.state for row in await talk.calls()} == {"stopped"}


async def test_a_cancellation_keeps_its_error_code(talk):
    making = talk.begin(await posted(talk, [call()]), tool := HangingTool())
    await tool.begun.wait()
    making.cancel("reply_interrupted")
    with pytest.raises(asyncio.CancelledError, match="reply_interrupted"):
        await making


async def test_a_tool_that_goes_on_does_not_hold_up_a_stop(talk):
    begun, may_end = asyncio.Event(), asyncio.Event()

    async def go_on(arguments):
        begun.set()
        while not may_end.is_set():
            with suppress(asyncio.CancelledError):
                await may_end.wait()
        return "too late"

    making = talk.begin(await posted(talk, [call()]), NotedTool(answer=go_on))
    await begun.wait()
    reply = await stop(talk, making)
    may_end.set()
    assert reply.state == "stopped"


class StoppingClient:
    """A provider's client that has the reply stopped once all of a completion has come."""

    base_url = None

    def __init__(self, client) -> None:
        self._client = client
        self.making = None

    async def stream(self, request):
        async for event in self._client.stream(request):
            yield event
            if isinstance(event, CompletionEnd):
                self.making.cancel()


async def test_a_stop_while_the_request_is_settled_keeps_its_calls_from_being_run(talk):
    talk.client = client = StoppingClient(talk.client)
    making = client.making = talk.begin(await posted(talk, [call()]), tool := NotedTool())
    reply = await talk.end(making)
    assert (reply.state, tool.ran, len(talk.prompts())) == ("stopped", [], 1)
    assert (await in_thread(Completion.objects.get)).finish_reason == "tool_calls"


async def test_a_stop_while_an_answer_is_settled_comes_too_late(talk):
    talk.client = client = StoppingClient(talk.client)
    reply = await posted(talk)
    await in_thread(claim_runs, "worker", limit=1)
    making = client.making = talk.begin(reply)
    assert await making is make_reply.ReplyOutcome.ENDED
    await in_thread(reply.refresh_from_db)
    assert reply.state == "complete"
    assert (await in_thread(Completion.objects.get)).finish_reason == "stop"


async def test_a_stop_while_its_first_request_is_opened_leaves_a_settled_row_and_asks_for_nothing(talk):
    reply, held, may_go = await posted(talk), threading.Event(), threading.Event()

    def hold():
        with transaction.atomic():
            Run.objects.select_for_update().get(reply=reply)
            held.set()
            may_go.wait(PATIENCE_SECONDS)

    holding = asyncio.ensure_future(in_thread(hold))
    await in_thread(held.wait, PATIENCE_SECONDS)
    making = talk.begin(reply)
    await in_thread(wait_for_lock_waits)
    making.cancel("reply_access_revoked")
    may_go.set()
    assert (await talk.end(making)).state == "stopped"
    row = await in_thread(Completion.objects.get)
    assert (row.finish_reason, row.error_code, row.cost_usd) == ("stopped", "reply_access_revoked", 0)
    assert row.ended_at
    assert not talk.prompts()
    await holding


async def test_a_stop_while_its_window_is_chosen_opens_no_row(talk, monkeypatch):
    begun, may_go, load_loop = threading.Event(), threading.Event(), make_reply._load_loop

    def load_late(*arguments):
        begun.set()
        may_go.wait(PATIENCE_SECONDS)
        return load_loop(*arguments)

    monkeypatch.setattr(make_reply, "_load_loop", load_late)
    making = talk.begin(await posted(talk))
    await in_thread(begun.wait, PATIENCE_SECONDS)
    making.cancel()
    may_go.set()
    assert (await talk.end(making)).state == "stopped"
    assert not await in_thread(Completion.objects.exists)


async def test_a_stop_while_a_step_is_stored_does_not_bring_its_text_back(talk):
    reply, held, may_go = await posted(talk, [{"say": "Let me see."}, call()]), threading.Event(), threading.Event()

    def hold():
        with transaction.atomic():
            Message.objects.select_for_update().get(pk=reply.pk)
            held.set()
            may_go.wait(PATIENCE_SECONDS)

    async def answer(arguments):
        talk.holding = asyncio.ensure_future(in_thread(hold))
        await in_thread(held.wait, PATIENCE_SECONDS)
        return "a garden"

    making = talk.begin(reply, NotedTool(answer=answer))
    await in_thread(held.wait, PATIENCE_SECONDS)
    await in_thread(wait_for_lock_waits)
    making.cancel()
    may_go.set()
    await talk.end(making)
    assert [message.content for message in await talk.path()][1:] == ["Let me see.", "a garden", ""]
    await talk.holding


async def test_a_text_that_is_saved_late_does_not_come_back_into_the_next_step(talk):
    steps = [{"say": "Let me see."}, call()], [{"hang": True}]
    reply = await posted(talk, *steps)
    late = StepText(reply.position, "Let me see.")
    await in_thread(claim_runs, "late", limit=1)
    making = talk.begin(reply, NotedTool())
    await in_thread(talk.upstream.wait_for_requests, 2)
    await in_thread(save_texts, {reply.pk: late}, worker="late")
    stopped = await stop(talk, making)
    assert (await in_thread(Message.objects.get, pk=reply.pk)).content == stopped.content == ""


async def test_no_step_is_stored_for_a_reply_that_has_ended_meanwhile(talk):
    reply = await posted(talk, [call()])

    async def be_stopped(arguments):
        await talk.end(asyncio.create_task(asyncio.sleep(0), name=str(reply.pk)))
        return "too late"

    ended = await talk.end(talk.begin(reply, NotedTool(answer=be_stopped)))
    assert ended.state == "complete"
    assert [message.role for message in await talk.path()] == ["user", "assistant"]
    assert [(row.state, row.result) for row in await talk.calls()] == [("stopped", "")]


async def test_no_call_is_stored_for_a_reply_that_has_ended_meanwhile(talk):
    reply = await posted(talk, [{"say": "Well"}, call()])
    talk.client = client = EndingClient(talk, reply)
    await talk.end(talk.begin(reply, tool := NotedTool()))
    assert client.ended
    assert (await talk.calls(), tool.ran) == ([], [])


class EndingClient(StoppingClient):
    """A provider's client whose reply is ended by another process once all of a completion has come."""

    def __init__(self, talk, reply) -> None:
        super().__init__(talk.client)
        self._talk, self._reply, self.ended = talk, reply, False

    async def stream(self, request):
        async for event in self._client.stream(request):
            yield event
        await self._talk.end(asyncio.create_task(asyncio.sleep(0), name=str(self._reply.pk)))
        self.ended = True
