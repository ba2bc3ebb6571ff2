"""The tool calls of replies in the thread: their steps, and the statements that it takes to read them."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from conversations.models import Conversation, Message
from conversations.models.tool_call import ToolCallState
from conversations.selectors.conversations import thread
from conversations.selectors.conversations.thread import thread_from, thread_page
from conversations.services.replies.end_reply import COMPLETE, end_reply
from tests.admin.stored import make_completion
from tests.support.people import begin, make_user, post
from tests.support.tool_steps import add_call, end_step

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def reply():
    return post(begin(make_user("alice")), "What is 17 × 23?").reply


def shown(reply):
    return thread_page(reply.conversation).messages[-1]


def test_the_steps_of_a_reply_are_shown_with_it_and_not_by_themselves(reply):
    add_call(reply, result="391")
    end_step(reply, text="Let me *see*.")
    page = thread_page(reply.conversation)
    assert [message.role for message in page.messages] == ["user", "assistant"]
    (step,) = page.messages[-1].steps.stored
    assert step.text == "Let me *see*."
    assert [call.result for call in step.calls] == ["391"]


def test_the_calls_of_the_step_that_a_reply_is_at_stand_after_its_own_words(reply):
    add_call(reply, result="391")
    end_step(reply, text="First.")
    add_call(reply, step=2, state=ToolCallState.RUNNING)
    Message.objects.filter(pk=reply.pk).update(content="And now.")
    message = shown(reply)
    assert (message.steps.current_number, message.content) == (2, "And now.")
    assert [call.state for call in message.steps.calls] == ["running"]


def test_calls_that_wait_for_a_program_are_shown_once_the_reply_has_ended(reply):
    call = {"id": "call_1", "type": "function", "function": {"name": "get_time", "arguments": "{}"}}
    Message.objects.filter(pk=reply.pk).update(tool_calls=[call])
    assert shown(reply).open_calls == []
    end_reply(reply.pk, COMPLETE)
    assert [asked.name for asked in shown(reply).open_calls] == ["get_time"]


def test_a_reply_begins_where_its_first_step_does(reply):
    add_call(reply, result="391")
    end_step(reply)
    message = shown(reply)
    assert (message.first_position, message.position) == (1, 3)
    assert thread_from(reply.conversation, 3).first_position == 1


def test_a_step_that_was_stored_after_the_reply_was_read_still_has_its_own_words(reply, monkeypatch):
    """Otherwise a page would show the words of one step as those of the next, and never find out."""
    read = thread.steps_of_replies

    def late(stored):
        end_step(reply, text="Let me see.")
        return read(stored)

    add_call(reply, result="391")
    Message.objects.filter(pk=reply.pk).update(content="Let me see.")
    monkeypatch.setattr(thread, "steps_of_replies", late)
    message = shown(reply)
    assert (message.steps.current_number, message.content, len(message.steps.calls)) == (1, "Let me see.", 1)


def sent(reply, *cuts):
    """Store a request for *reply* which had room for so many characters of its results, None is all of each."""
    results = reply.steps.filter(role="tool").order_by("position")
    entries = [
        {"message": each.pk, "truncated_to": cut, "tokens": 300} for each, cut in zip(results, cuts, strict=True)
    ]
    make_completion(reply.conversation.owner, reply=reply, window={"entries": entries})


def test_what_the_last_request_had_no_room_for_is_said(reply):
    add_call(reply, result="a" * 9_000)
    add_call(reply, result="391")
    end_step(reply)
    sent(reply, 5_000, None)
    sent(reply, 1_200, None)
    (step,) = shown(reply).steps.stored
    assert [(call.cut, call.result_characters) for call in step.calls] == [((1_200, 300), 9_000), (None, 3)]


def test_a_page_can_begin_with_a_reply_whose_steps_stand_above_it(reply):
    add_call(reply, result="391")
    end_step(reply)
    page = thread_page(reply.conversation, limit=1)
    assert [message.pk for message in page.messages] == [reply.pk]
    assert (page.has_older, page.first_position) == (True, 1)
    older = thread_page(reply.conversation, before=page.first_position)
    assert [message.role for message in older.messages] == ["user"]


def statements(conversation):
    conversation = Conversation.objects.get(pk=conversation.pk)
    with CaptureQueriesContext(connection) as queries:
        thread_page(conversation)
    return len(queries)


def test_a_page_without_calls_takes_no_statement_more_and_one_with_calls_three(reply):
    plain = statements(reply.conversation)
    add_call(reply, result="391")
    assert statements(reply.conversation) == plain + 2
    end_step(reply)
    one_step = statements(reply.conversation)
    for step in range(2, 6):
        add_call(reply, step=step, result="391")
        end_step(reply, step=step)
    assert one_step == statements(reply.conversation) == plain + 3
