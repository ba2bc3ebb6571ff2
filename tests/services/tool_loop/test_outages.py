"""A database that is away for a moment, in the middle of a step: nothing is lost, and nothing is done twice."""

from __future__ import annotations

import pytest
from django.db import OperationalError

from conversations.live import database_retries
from conversations.models import Completion, Spending
from conversations.runs.claim import claim_runs
from conversations.services.replies import complete_step, make_reply, run_tool_calls
from tests.support.people import post
from tests.support.waiting import in_thread

from .tools import NotedTool, call, script


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr(database_retries, "DATABASE_AWAY_SECONDS", 0)


@pytest.mark.parametrize("lost", ["_load_loop", "store_calls", "calls_of_step", "store_step", "prepare_reply"])
async def test_what_was_written_without_an_answer_is_written_once(talk, monkeypatch, lost):
    monkeypatch.setattr(make_reply, lost, losing_answers(getattr(make_reply, lost)))
    reply = await talk.ask(script([call(x=1), call(x=2)], [call(x=3)]), tool := NotedTool())
    assert (reply.state, sorted(tool.ran)) == ("complete", ['{"x": 1}', '{"x": 2}', '{"x": 3}'])
    assert [message.position for message in await talk.path()] == list(range(7))
    assert len(await talk.calls()) == 3


async def test_a_row_of_the_ledger_that_was_opened_without_an_answer_is_opened_once(talk, monkeypatch):
    monkeypatch.setattr(complete_step, "open_step", losing_answers(complete_step.open_step))
    reply = await talk.ask(script([call(x=1)]), NotedTool())
    assert reply.state == "complete"
    rows = [row async for row in Completion.objects.filter(reply=reply)]
    assert [row.step for row in rows] == [2, 1]
    assert all(row.ended_at for row in rows)


async def test_the_window_of_a_row_that_was_opened_without_an_answer_is_the_one_that_is_sent(talk, monkeypatch):
    monkeypatch.setattr(complete_step, "open_step", losing_answers(complete_step.open_step, most=1))
    loaded, load_loop = [], make_reply._load_loop

    def load_and_tell(*arguments):
        loaded.append(load_loop(*arguments))
        return loaded[-1]

    monkeypatch.setattr(make_reply, "_load_loop", load_and_tell)
    reply = await talk.ask(script())
    row = await Completion.objects.aget(reply=reply)
    assert (reply.state, len(loaded), bool(row.ended_at)) == ("complete", 1, True)


@pytest.mark.parametrize("lost", ["end_answered", "settle_completion"])
@pytest.mark.parametrize("tools", [[], [NotedTool()]])
async def test_an_answer_that_was_ended_without_an_answer_is_ended_and_billed_once(talk, monkeypatch, lost, tools):
    monkeypatch.setattr(complete_step, lost, losing_answers(getattr(complete_step, lost)))
    reply = (await in_thread(post, talk.conversation, script())).reply
    await in_thread(claim_runs, "worker", limit=1)
    making = talk.begin(reply, *tools)
    await making
    reply = await talk.end(making)
    assert (reply.state, reply.content) == ("complete", talk.texts.text)
    row = await Completion.objects.aget(reply=reply)
    spent = await in_thread(list, Spending.objects.filter(user=row.user_id).values_list("spent_usd", "reserved_usd"))
    assert spent == [(row.cost_usd, 0)] * 2


def losing_answers(write, *, most=1_000):
    """Return *write* as it is seen by a client that does not get every first answer of two, at *most* so often."""
    done = 0

    def lose(*arguments, **named):
        nonlocal done
        done += 1
        result = write(*arguments, **named)
        if done % 2 and done < 2 * most:
            raise OperationalError("the connection is lost")
        return result

    return lose


async def test_a_call_that_may_not_have_begun_is_not_run(talk, monkeypatch):
    monkeypatch.setattr(run_tool_calls, "begin_call", losing_answers(run_tool_calls.begin_call, most=1))
    reply = await talk.ask(script([call(x=1)], [call(x=1)]), tool := NotedTool())
    assert (reply.state, tool.ran) == ("complete", ['{"x": 1}'])
    assert [row.state for row in await talk.calls()] == ["failed", "succeeded"]
