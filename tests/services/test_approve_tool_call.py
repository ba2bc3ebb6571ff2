"""A reply that awaits approval has no worker: it takes no place, and all its owner's pages say that it waits."""

from __future__ import annotations

import json

import pytest

from chatsite.accounts.models import Limits
from conversations.core.errors import CallNotAwaitingApproval, TooManyAwaitingApproval, TooManyRepliesAtOnce
from conversations.models import Run
from conversations.runs.awaiting_approval import await_approval
from conversations.selectors.conversations.conversation_list import active_conversations
from conversations.services.conversations.deletion import delete_conversation
from conversations.services.replies.approve_tool_call import decide_call
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.replies.stop_reply import stop_reply
from tests.support.awaiting_approval import (
    claim,
    decision,
    make_call_awaiting_approval,
    make_calls_awaiting_approval,
    store_tool_calls,
)
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def alice():
    return make_user("alice")


@pytest.fixture
def told(monkeypatch):
    """What is published to the pages of people, in its order."""
    frames = []
    monkeypatch.setattr("conversations.live.fanout.publish", lambda topic, frame: frames.append((topic, frame)))
    return lambda: [(topic, json.loads(frame)) for topic, frame in frames if topic.startswith("user.")]


def one_at_once(user):
    Limits.objects.create(user=user, replies_at_once=1)


def marking_frame(call, *, awaiting):
    conversation = call.reply.conversation
    frame = {
        "type": "conversation.awaiting_approval",
        "conversation": str(conversation.public_id),
        "awaiting_approval": awaiting,
    }
    return (f"user.{conversation.owner_id}", frame)


def writing_frame(reply, *, writing):
    conversation = reply.conversation
    frame = {"type": "conversation.writing", "conversation": str(conversation.public_id), "writing": writing}
    return (f"user.{conversation.owner_id}", frame)


def awaits_approval(call):
    return Run.objects.get(reply=call.reply).state == "awaiting_approval"


# Places


def test_a_reply_that_waits_for_its_person_takes_none_of_their_places(alice):
    one_at_once(alice)
    make_call_awaiting_approval(alice, {"note": "x"})
    assert post(begin(alice), "Hello").created
    with pytest.raises(TooManyRepliesAtOnce):
        post(begin(alice), "Hello")


def test_twice_as_many_as_may_be_made_may_wait_for_their_person(alice):
    one_at_once(alice)
    call = make_call_awaiting_approval(alice, {"note": "x"})
    make_call_awaiting_approval(alice, {"note": "y"})
    with pytest.raises(TooManyAwaitingApproval):
        post(begin(alice), "Hello")
    decide_call(**decision(call, allowed=False))
    end_reply(call.reply.pk, COMPLETE, content="Hi")
    assert post(begin(alice), "Hello").created


@pytest.mark.parametrize("allowed", [True, False])
def test_where_all_places_are_taken_it_still_awaits_approval(alice, allowed):
    one_at_once(alice)
    call = make_call_awaiting_approval(alice, {"note": "x"})
    other = post(begin(alice), "Hello").reply
    with pytest.raises(TooManyRepliesAtOnce):
        decide_call(**decision(call, allowed=allowed))
    assert awaits_approval(call)
    end_reply(other.pk, COMPLETE, content="Hi")
    decide_call(**decision(call, allowed=allowed))
    assert not awaits_approval(call)


def test_of_several_calls_only_the_last_that_is_decided_needs_a_place(alice):
    one_at_once(alice)
    first, last = make_calls_awaiting_approval(
        post(begin(alice), "Write that down").reply, {"note": "x"}, {"note": "y"}
    )
    post(begin(alice), "Hello")
    assert decide_call(**decision(first)).state == "ready"
    with pytest.raises(TooManyRepliesAtOnce):
        decide_call(**decision(last))


def test_a_reply_that_its_worker_still_holds_has_its_place_already(alice):
    one_at_once(alice)
    reply = post(begin(alice), "Write that down").reply
    run = claim(reply)
    (call,) = store_tool_calls(reply, {"note": "x"})
    decide_call(**decision(call))
    await_approval(run, content="")
    assert Run.objects.get(reply=reply).state == "waiting"


def test_a_refused_decision_needs_no_place(alice):
    one_at_once(alice)
    call = make_call_awaiting_approval(alice, {"note": "x"})
    post(begin(alice), "Hello")
    with pytest.raises(CallNotAwaitingApproval):
        decide_call(**decision(call) | {"digest": "another"})


# What pages are told


def test_all_pages_of_its_person_are_told_that_it_waits_and_that_it_goes_on(alice, told):
    call = make_call_awaiting_approval(alice, {"note": "x"})
    assert told() == [writing_frame(call.reply, writing=True), marking_frame(call, awaiting=True)]
    decide_call(**decision(call))
    assert told()[2:] == [marking_frame(call, awaiting=False)]


def test_they_are_told_that_it_has_ended(alice, told):
    call = make_call_awaiting_approval(alice, {"note": "x"})
    stop_reply(conversation=call.reply.conversation, reply_id=call.reply_id)
    assert told()[2:] == [marking_frame(call, awaiting=False), writing_frame(call.reply, writing=False)]


def test_of_a_reply_that_has_not_asked_they_are_told_only_that_it_has_ended(alice, told):
    reply = post(begin(alice), "Hello").reply
    end_reply(reply.pk, COMPLETE, content="Hi")
    assert told() == [writing_frame(reply, writing=False)]


def test_a_person_is_told_of_their_own_only(alice):
    call = make_call_awaiting_approval(alice, {"note": "x"})
    make_call_awaiting_approval(make_user("bob"), {"note": "x"})
    [active] = active_conversations(alice.pk)
    assert active.awaits_approval
    assert active.public_id == call.reply.conversation.public_id


def test_what_is_deleted_awaits_no_approval(alice):
    call = make_call_awaiting_approval(alice, {"note": "x"})
    delete_conversation(call.reply.conversation)
    assert active_conversations(alice.pk) == []
