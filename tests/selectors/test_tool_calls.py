"""The calls of replies as pages show them."""

from __future__ import annotations

import datetime as dt

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conversations.models import ToolCall
from conversations.models.tool_call import ToolCallState
from conversations.selectors.conversations.tool_calls import MOST_SHOWN_CHARACTERS, calls_of_replies, earlier_runs
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.replies.tool_calls import end_call, store_step
from conversations.templatetags.calls import readable_arguments
from tests.support.awaiting_approval import store_tool_calls
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db
NOTE = {"note": "Buy milk"}


@pytest.fixture
def conversation():
    return begin(make_user("alice"))


@pytest.fixture
def reply(conversation):
    return post(conversation, "Write that down").reply


def ended(call, result="Written down.", state=ToolCallState.SUCCEEDED):
    """Let *call* have run for two seconds, a minute ago."""
    began = timezone.now() - dt.timedelta(minutes=1)
    ToolCall.objects.filter(pk=call.pk).update(started_at=began)
    end_call(call.pk, state, result=result)
    ToolCall.objects.filter(pk=call.pk).update(ended_at=began + dt.timedelta(seconds=2))


def test_a_step_that_runs_has_its_calls_and_the_replys_own_text(reply):
    store_tool_calls(reply, NOTE, {"note": "Buy tea"})
    [step] = calls_of_replies([reply.pk])[reply.pk]
    assert (step.number, step.text, step.is_stored, step.awaits_approval) == (1, "", False, True)
    assert [call.arguments for call in step.calls] == ['{"note": "Buy milk"}', '{"note": "Buy tea"}']
    assert readable_arguments(step.calls[0]) == '{\n  "note": "Buy milk"\n}'
    assert (step.calls[0].tool, step.calls[0].source, step.calls[0].seconds) == ("write_down", "own", None)


def test_a_step_that_is_stored_has_its_text_and_its_results(reply):
    ended(store_tool_calls(reply, NOTE)[0])
    store_step(reply.pk, step=1, text="Let me see.")
    [step] = calls_of_replies([reply.pk])[reply.pk]
    assert (step.text, step.is_stored) == ("Let me see.", True)
    [call] = step.calls
    assert (call.result, call.state, call.seconds, call.is_whole) == ("Written down.", "succeeded", 2, True)
    assert call.result_tokens > 0


def test_a_result_is_shown_before_its_step_is_stored(reply):
    ended(store_tool_calls(reply, NOTE, NOTE)[0])
    [step] = calls_of_replies([reply.pk])[reply.pk]
    assert [(call.result, call.result_tokens) for call in step.calls] == [("Written down.", None), ("", None)]


@pytest.mark.parametrize("is_stored", [True, False])
def test_of_a_long_result_the_beginning_is_read(reply, is_stored):
    ended(store_tool_calls(reply, NOTE)[0], result="milk " * 10_000)
    if is_stored:
        store_step(reply.pk, step=1, text="")
    [call] = calls_of_replies([reply.pk])[reply.pk][0].calls
    assert (len(call.result), call.result_characters, call.is_whole) == (MOST_SHOWN_CHARACTERS, 50_000, False)


def test_long_arguments_are_laid_out_for_the_decision(reply):
    ended_call, awaiting = store_tool_calls(reply, *[{"note": "milk " * 3_000}] * 2)
    ended(ended_call)
    shown = calls_of_replies([reply.pk])[reply.pk][0].calls
    assert [readable_arguments(call) == call.arguments for call in shown] == [True, False]
    assert shown[1].pk == awaiting.pk


def test_a_page_on_which_calls_await_approval_takes_four_statements_however_many_there_are(reply):
    for step in (1, 2):
        for call in store_tool_calls(reply, NOTE, NOTE, NOTE, step=step):
            ended(call)
        store_step(reply.pk, step=step, text=f"Step {step}")
    store_tool_calls(reply, NOTE, NOTE, step=3)
    with CaptureQueriesContext(connection) as queries:
        steps = calls_of_replies([reply.pk])[reply.pk]
    assert len(queries) == 4
    assert [(step.text, len(step.calls)) for step in steps] == [("Step 1", 3), ("Step 2", 3), ("", 2)]


def test_a_page_without_calls_takes_one(reply):
    with CaptureQueriesContext(connection) as queries:
        assert calls_of_replies([reply.pk]) == {}
    assert len(queries) == 1


@pytest.mark.parametrize(("state", "is_certain"), [("succeeded", True), ("failed", False), ("stopped", False)])
def test_a_call_that_awaits_approval_knows_when_the_same_was_run_before(reply, state, is_certain):
    ended(store_tool_calls(reply, NOTE)[0], state=state)
    [again] = store_tool_calls(reply, NOTE, step=2)
    earlier = earlier_runs([again.pk])[again.pk]
    assert (earlier.state, earlier.is_certain) == (state, is_certain)
    assert dt.timedelta(seconds=50) < timezone.now() - earlier.started_at < dt.timedelta(seconds=80)


def test_of_several_earlier_runs_the_last_counts(reply):
    first, last, again = store_tool_calls(reply, NOTE, NOTE, NOTE)
    ended(first)
    ToolCall.objects.filter(pk=first.pk).update(started_at=timezone.now() - dt.timedelta(days=1))
    ended(last, state=ToolCallState.STOPPED)
    assert earlier_runs([again.pk])[again.pk].state == "stopped"


def test_other_arguments_and_calls_that_were_never_begun_are_no_earlier_runs(reply):
    refused, other, again = store_tool_calls(reply, NOTE, {"note": "Buy tea"}, NOTE)
    end_call(refused.pk, ToolCallState.REFUSED)
    ended(other)
    assert earlier_runs([again.pk]) == {}


def test_other_conversations_are_no_earlier_runs(reply):
    ended(store_tool_calls(reply, NOTE)[0])
    end_reply(reply.pk, COMPLETE, content="Done.")
    elsewhere = post(begin(make_user("bob")), "Write that down").reply
    assert earlier_runs([call.pk for call in store_tool_calls(elsewhere, NOTE)]) == {}


def test_it_counts_in_later_replies_and_on_other_branches(conversation, reply):
    ended(store_tool_calls(reply, NOTE)[0])
    end_reply(reply.pk, COMPLETE, content="Done.")
    conversation.messages.update(active=False)
    later = conversation.messages.create(
        parent=reply.parent, position=1, role="assistant", state="streaming", encoding="o200k_base"
    )
    [again] = store_tool_calls(later, NOTE)
    assert again.pk in earlier_runs([again.pk])
