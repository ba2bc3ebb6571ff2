"""A database that is away for a moment, in the middle of a step: nothing is lost, and nothing is done twice."""

from __future__ import annotations

import pytest
from django.db import OperationalError

from conversations.services.ledger import provider_attempts
from conversations.services.replies import make_reply, run_tool_calls

from .tools import NotedTool, call, script


@pytest.mark.parametrize("lost", ["_load_loop", "store_calls", "calls_of_step", "store_step", "prepare_reply"])
async def test_what_was_written_without_an_answer_is_written_once(talk, monkeypatch, lost):
    monkeypatch.setattr(provider_attempts, "DATABASE_AWAY_SECONDS", 0)
    monkeypatch.setattr(make_reply, lost, losing_answers(getattr(make_reply, lost)))
    reply = await talk.ask(script([call(x=1), call(x=2)], [call(x=3)]), tool := NotedTool())
    assert (reply.state, sorted(tool.ran)) == ("complete", ['{"x": 1}', '{"x": 2}', '{"x": 3}'])
    assert [message.position for message in await talk.path()] == list(range(7))
    assert len(await talk.calls()) == 3


def losing_answers(write):
    """Return *write* as it is seen by a client that does not get every first answer of two."""
    done = 0

    def lose(*arguments, **named):
        nonlocal done
        done += 1
        result = write(*arguments, **named)
        if done % 2:
            raise OperationalError("the connection is lost")
        return result

    return lose


async def test_a_call_that_may_not_have_begun_is_not_run(talk, monkeypatch):
    monkeypatch.setattr(run_tool_calls, "begin_call", losing_answers(run_tool_calls.begin_call))
    reply = await talk.ask(script([call(x=1)], [call(x=1)]), tool := NotedTool())
    assert (reply.state, tool.ran) == ("complete", ['{"x": 1}'])
    assert [row.state for row in await talk.calls()] == ["failed", "succeeded"]
