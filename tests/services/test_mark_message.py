from __future__ import annotations

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from conversations.core.errors import MessageExcluded, MessageNotFound, MessageNotPinnable, PinsTooLong, ReplyInProgress
from conversations.live.fanout import Subscriber, conversation_topic, subscribe
from conversations.models import Conversation, Message, Scenario
from conversations.services.language_models.model_context import model_context
from conversations.services.messages.mark_message import exclude_message, pin_message
from conversations.services.replies.end_reply import COMPLETE, Ending, end_reply
from conversations.services.replies.prepare_reply import prepare_reply
from conversations.services.replies.regenerate_reply import regenerate_reply
from conversations.services.windows.build_window import build_window, draft_message
from tests.support.people import begin, make_user, post
from tests.support.waiting import in_thread, wait_until

pytestmark = pytest.mark.django_db


@pytest.fixture
def conversation(settings):
    settings.MESSAGES_PER_MINUTE = 0
    return begin(make_user("alice"))


def talk(conversation, content):
    posted = post(conversation, content)
    end_reply(posted.reply.pk, COMPLETE, content=f"Reply to {content}")
    conversation.refresh_from_db()
    return posted


def sent(conversation):
    draft = draft_message("Now?", position=conversation.head.position + 1, context=model_context(conversation.scenario))
    return [message.content for message in build_window(conversation, draft).prompt]


def test_a_pinned_message_comes_first_and_once(conversation):
    talk(conversation, "one")
    two = talk(conversation, "two").message
    pin_message(conversation=conversation, message_id=two.pk, pinned=True)
    assert sent(conversation) == ["two", "one", "Reply to one", "Reply to two", "Now?"]
    pin_message(conversation=conversation, message_id=two.pk, pinned=False)
    assert sent(conversation)[0] == "one"


def test_a_conversation_knows_whether_it_has_pins(conversation):
    one, two = (talk(conversation, content).message.pk for content in ("one", "two"))
    known = []
    for message_id, pinned in ((one, True), (two, True), (one, False), (two, False)):
        pin_message(conversation=conversation, message_id=message_id, pinned=pinned)
        known.append((conversation.has_pins, Conversation.objects.get(pk=conversation.pk).has_pins))
    assert known == [(True, True), (True, True), (True, True), (False, False)]


def test_whether_there_are_pins_is_not_asked_of_every_message(conversation):
    one = talk(conversation, "one").message
    following = range(2, 3_000)
    rows = (Message(conversation=conversation, parent=one, position=each) for each in following)
    Message.objects.bulk_create(rows, batch_size=1_000)
    with CaptureQueriesContext(connection) as queries:
        exclude_message(conversation=conversation, message_id=one.pk, excluded=True)
    [asked] = [query["sql"] for query in queries if query["sql"].startswith("SELECT 1") and '"pinned"' in query["sql"]]
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE conversations_message")
        cursor.execute(f"EXPLAIN {asked}")
        assert "message_pins" in str(cursor.fetchall())


def test_an_excluded_message_is_not_sent_and_loses_its_pin(conversation):
    one = talk(conversation, "one").message
    pin_message(conversation=conversation, message_id=one.pk, pinned=True)
    exclude_message(conversation=conversation, message_id=one.pk, excluded=True)
    assert sent(conversation) == ["Reply to one", "Now?"]
    exclude_message(conversation=conversation, message_id=one.pk, excluded=False)
    assert sent(conversation)[0] == "one"
    assert not Message.objects.get(pk=one.pk).pinned


def test_an_excluded_message_cannot_be_pinned(conversation):
    one = talk(conversation, "one").message
    exclude_message(conversation=conversation, message_id=one.pk, excluded=True)
    with pytest.raises(MessageExcluded):
        pin_message(conversation=conversation, message_id=one.pk, pinned=True)


def test_a_pin_that_leaves_no_room_is_refused_with_the_tokens_over(conversation):
    one = talk(conversation, "word " * 60).message
    Scenario.objects.update(cap_tokens=60)
    conversation.refresh_from_db()
    with pytest.raises(PinsTooLong) as refused:
        pin_message(conversation=conversation, message_id=one.pk, pinned=True)
    tokens = 3 + (4 + one.content_tokens) + (4 + 1)  # priming, the pin, the shortest message
    assert refused.value.tokens_over == tokens - 60
    assert not Message.objects.get(pk=one.pk).pinned


def test_a_pin_that_leaves_no_room_for_the_message_being_answered_is_refused(conversation):
    one = talk(conversation, "word " * 40).message
    Scenario.objects.update(cap_tokens=90)
    conversation.refresh_from_db()
    reply = post(conversation, "word " * 60).reply
    with pytest.raises(PinsTooLong):
        pin_message(conversation=conversation, message_id=one.pk, pinned=True)
    assert prepare_reply(reply.pk).window.prompt[-1].content == "word " * 60


def test_an_excluded_question_is_not_asked_again(conversation):
    posted = talk(conversation, "one")
    exclude_message(conversation=conversation, message_id=posted.message.pk, excluded=True)
    with pytest.raises(MessageExcluded):
        regenerate_reply(user=conversation.owner, conversation=conversation, reply_id=posted.reply.pk)


def test_nothing_is_excluded_while_a_request_with_it_may_be_repeated(conversation):
    posted = post(conversation, "one")
    with pytest.raises(ReplyInProgress):
        exclude_message(conversation=conversation, message_id=posted.message.pk, excluded=True)


def test_what_is_never_sent_by_itself_cannot_be_pinned(conversation):
    posted = post(conversation, "one")
    end_reply(posted.reply.pk, Ending("failed"), content="")
    with pytest.raises(MessageNotPinnable):
        pin_message(conversation=conversation, message_id=posted.reply.pk, pinned=True)
    assert not Message.objects.get(pk=posted.reply.pk).pinned


def test_a_reply_is_pinned_only_when_it_is_whole(conversation):
    posted = post(conversation, "one")
    with pytest.raises(ReplyInProgress):
        pin_message(conversation=conversation, message_id=posted.reply.pk, pinned=True)


@pytest.mark.parametrize("mark", [pin_message, exclude_message])
def test_a_message_of_another_conversation_is_not_found(conversation, mark):
    theirs = talk(begin(make_user("bob")), "secret").message
    wanted = {"pinned": True} if mark is pin_message else {"excluded": True}
    with pytest.raises(MessageNotFound):
        mark(conversation=conversation, message_id=theirs.pk, **wanted)


@pytest.mark.django_db(transaction=True)
async def test_other_pages_are_told(settings, transactional_db):
    conversation = await in_thread(lambda: begin(make_user("alice")))
    one = (await in_thread(talk, conversation, "one")).message
    heard: list[str] = []
    subscribe(conversation_topic(conversation.public_id), Subscriber(heard.append))
    await in_thread(pin_message, conversation=conversation, message_id=one.pk, pinned=True)
    await wait_until(lambda: heard)
    assert json.loads(heard[0]) == {
        "type": "message.marked",
        "conversation": str(conversation.public_id),
        "message": one.pk,
        "position": 0,
        "pinned": True,
        "excluded": False,
        "never_recalled": False,
    }
