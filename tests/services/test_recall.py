"""Recall of a reply: asked where the window does not begin with the conversation, and shown exactly as it was sent."""

from __future__ import annotations

import datetime as dt

import pytest

from conversations.core.prompt.grounding_text import RECALL_HEADER
from conversations.core.recall.recalled_passage import RecalledPassage
from conversations.core.window.window_record import WindowRecord
from conversations.models import Conversation, Message
from conversations.selectors.conversations.sent_request import sent_request
from conversations.services.grounding.recall import Recalled, recalled_before
from conversations.services.replies.complete_step import StepRequest, open_step
from conversations.services.replies.end_reply import Ending, end_reply
from conversations.services.replies.prepare_reply import prepare_reply
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db


@pytest.fixture
def conversation():
    conversation = begin(make_user("alice"))
    conversation.scenario.cap_tokens = 900
    conversation.scenario.save()
    return conversation


def say(conversation, content):
    posted = post(conversation, content)
    end_reply(posted.reply.pk, Ending("complete"), content="I see. " * 20)
    conversation.refresh_from_db()


def found(message, *, start=0, end=None, conversation=None):
    text = message.content[start:end]
    return RecalledPassage(
        message=message.pk,
        position=message.position,
        role=message.role,
        name=None,
        text=text,
        start=start,
        end=start + len(text),
        is_whole=text == message.content,
        tokens=len(text) // 4,
        session=0,
        at=dt.datetime(2026, 11, 2, 23, tzinfo=dt.UTC),
        score=1.5,
        why=("words",),
        conversation=conversation,
    )


@pytest.fixture
def reply(conversation):
    say(conversation, "My sister Ann lives in Porto. " + "She likes it there. " * 10)
    for number in range(12):
        say(conversation, f"Something else, number {number}. " * 8)
    return post(conversation, "Where does Ann live?").reply


def first_message(reply):
    return Message.objects.get(conversation=reply.conversation, position=0)


def prepared(reply, *passages):
    return prepare_reply(reply.pk, recalled=Recalled(passages))


def test_what_is_recalled_stands_before_the_question_and_is_in_the_record(reply):
    window = prepared(reply, found(first_message(reply), end=29)).window
    newest = window.prompt[-1].content
    assert newest.startswith(RECALL_HEADER)
    assert "\n2026-11-02\nU: My sister Ann lives in Porto. […]\n\nQuestion:\nWhere does Ann live?" in newest
    [entry] = window.record.recall.included
    assert (entry.position, entry.start, entry.end, entry.is_cut, entry.at[:10]) == (0, 0, 29, True, "2026-11-02")


def test_the_request_is_shown_exactly_as_it_was_sent(reply):
    completion = open_step(StepRequest(prepared(reply, found(first_message(reply), start=3, end=29))), 1)
    completion.refresh_from_db()
    sent = sent_request(completion)
    assert sent.is_exact
    assert "U: […] sister Ann lives in Porto." in sent.body["messages"][-1]["content"]


def test_a_reply_that_goes_on_keeps_what_was_recalled(reply):
    first = prepared(reply, found(first_message(reply), end=29))
    open_step(StepRequest(first), 1)
    again = prepare_reply(reply.pk, recalled=recalled_before(reply.pk))
    assert again.window.prompt == first.window.prompt


@pytest.mark.parametrize("change", [{"excluded": True}, {"active": False}])
def test_what_has_been_excluded_or_left_the_path_since_is_not_sent(reply, change):
    passage = found(first_message(reply))
    Message.objects.filter(pk=passage.message).update(**change)
    record = prepared(reply, passage).window.record
    assert record.recall.included == record.recall.left_out == ()


def test_the_text_of_a_failed_reply_is_not_sent(reply):
    failed = Message.objects.get(conversation=reply.conversation, position=reply.position - 2)
    Message.objects.filter(pk=failed.pk).update(state="failed")
    record: WindowRecord = prepared(reply).window.record
    assert {out.message: out.reason for out in record.left_out}[failed.pk] == "failed"


def test_the_record_says_where_the_reply_before_began_although_the_anchor_has_moved(reply):
    first = prepare_reply(reply.pk)
    second = prepare_reply(reply.pk, recalled=Recalled(()), without_recall=first)
    reply.conversation.refresh_from_db()
    assert reply.conversation.anchor_position == second.window.record.first_position > 0
    assert first.window.record.anchor is second.window.record.anchor is None


@pytest.fixture
def elsewhere(reply):
    """A message of another conversation of the same user, who wants to have recalled from there, too."""
    owner = reply.conversation.owner
    owner.recalls_other_conversations = True
    owner.save()
    return post(begin(owner), "My brother Ben lives in Oslo.").message


def from_elsewhere(message):
    return found(message, conversation=message.conversation_id)


def test_what_is_recalled_from_another_conversation_is_sent_and_shown_exactly(reply, elsewhere):
    step = prepared(reply, found(first_message(reply), end=29), from_elsewhere(elsewhere))
    newest = step.window.prompt[-1].content
    assert "\n2026-11-02 in another conversation\nU: My brother Ben lives in Oslo.\n11-02\nU: My sister Ann" in newest
    completion = open_step(StepRequest(step), 1)
    completion.refresh_from_db()
    assert sent_request(completion).is_exact
    assert WindowRecord.from_json(completion.window) == step.window.record
    assert step.window.record.recall.messages == (first_message(reply).pk,)
    again = prepare_reply(reply.pk, recalled=recalled_before(reply.pk))
    assert again.window.prompt == step.window.prompt


def test_it_is_sent_where_nothing_has_left_the_window_yet(elsewhere):
    question = post(begin(elsewhere.conversation.owner), "Where does Ben live?").reply
    assert "My brother Ben lives in Oslo." in prepared(question, from_elsewhere(elsewhere)).window.prompt[-1].content


def test_what_has_been_forgotten_since_is_not_sent(reply):
    passage = found(first_message(reply))
    Conversation.objects.filter(pk=reply.conversation_id).update(forgotten_before=passage.position + 1)
    record = prepared(reply, passage).window.record
    assert record.recall.included == record.recall.left_out == ()


@pytest.mark.parametrize(
    "change", ["kept out", "deleted", "another owner", "not wanted any more", "excluded", "forgotten"]
)
def test_what_may_not_be_looked_at_any_more_is_not_sent(reply, elsewhere, change):
    conversation = elsewhere.conversation
    if change == "kept out":
        conversation.kept_out_of_recall = True
    elif change == "deleted":
        conversation.deleted_at = dt.datetime.now(dt.UTC)
    elif change == "another owner":
        conversation.owner = make_user("bob")
    elif change == "not wanted any more":
        reply.conversation.owner.recalls_other_conversations = False
        reply.conversation.owner.save()
    elif change == "forgotten":
        conversation.forgotten_before = 1_000
    else:
        Message.objects.filter(pk=elsewhere.pk).update(excluded=True)
    conversation.save()
    record = prepared(reply, from_elsewhere(elsewhere)).window.record
    assert record.recall.included == record.recall.left_out == ()


def test_of_a_conversation_that_is_gone_its_figures_stay(reply, elsewhere):
    step = prepared(reply, from_elsewhere(elsewhere))
    completion = open_step(StepRequest(step), 1)
    elsewhere.conversation.delete()
    completion.refresh_from_db()
    sent = sent_request(completion)
    assert not sent.is_exact
    assert "Oslo" not in sent.body["messages"][-1]["content"]
    [entry] = WindowRecord.from_json(completion.window).recall.included
    assert entry.message == elsewhere.pk


def test_no_title_is_sent_or_kept_in_the_ledger(reply, elsewhere):
    elsewhere.conversation.title = "My biopsy"
    elsewhere.conversation.save()
    step = prepared(reply, from_elsewhere(elsewhere))
    completion = open_step(StepRequest(step), 1)
    completion.refresh_from_db()
    assert "biopsy" not in str(step.window.prompt) + str(completion.window)
