from __future__ import annotations

import uuid

import pytest

from conversations.core.errors import (
    ConversationNotFound,
    EmptyMessage,
    MessageNotEditable,
    MessageNotFound,
    MessageRateReached,
    MessageTooLong,
    ReplyInProgress,
)
from conversations.models import Conversation, Message, Run
from conversations.services.conversations.conversations import rename_conversation
from conversations.services.conversations.deletion import delete_conversation
from conversations.services.messages.edit_message import edit_message
from conversations.services.messages.mark_message import pin_message
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.replies.prepare_reply import prepare_reply
from tests.support.concurrent_users import at_once
from tests.support.people import begin, make_user, path_of, post

pytestmark = pytest.mark.django_db


@pytest.fixture
def conversation(settings):
    settings.MESSAGES_PER_MINUTE = 0
    return begin(make_user("alice"))


def talk(conversation, content):
    """Post *content* and have it answered; return the message."""
    posted = post(conversation, content)
    end_reply(posted.reply.pk, COMPLETE, content=f"Reply to {content}")
    return posted.message


def edit(message, content, **fields):
    fields = {"client_id": uuid.uuid4(), "user": message.conversation.owner, **fields}
    return edit_message(conversation=message.conversation, message_id=message.pk, content=content, **fields)


def contents(conversation):
    return [content for _, _, content in path_of(conversation)]


def test_a_new_version_stands_in_the_place_of_the_old_one(conversation):
    talk(conversation, "one")
    two = talk(conversation, "two")
    talk(conversation, "three")
    posted = edit(two, "2")
    assert contents(conversation) == ["one", "Reply to one", "2", ""]
    assert (posted.message.parent, posted.message.position) == (two.parent, two.position)
    assert Conversation.objects.get().head == posted.reply
    assert Run.objects.get(reply=posted.reply).state == "waiting"


def test_nothing_is_overwritten_or_deleted(conversation):
    one = talk(conversation, "one")
    talk(conversation, "two")
    before = list(Message.objects.order_by("id").values_list("id", "content", "parent", "position", "state"))
    edit(one, "1")
    after = Message.objects.order_by("id").values_list("id", "content", "parent", "position", "state")
    assert list(after)[: len(before)] == before


def test_the_window_holds_only_the_path_that_is_shown(conversation):
    talk(conversation, "one")
    two = talk(conversation, "two")
    talk(conversation, "three")
    prompt = prepare_reply(edit(two, "2").reply.pk).window.prompt
    assert [message.content for message in prompt] == ["one", "Reply to one", "2"]


def test_what_was_looked_up_for_the_old_version_stays_with_it(conversation):
    posted = post(conversation, "one", grounding=[{"text": "A passage.", "source": "", "score": 1}])
    end_reply(posted.reply.pk, COMPLETE, content="Indeed")
    assert edit(posted.message, "1").message.grounding == []


def test_the_same_client_id_is_the_same_version(conversation):
    one, client_id = talk(conversation, "one"), uuid.uuid4()
    first = edit(one, "1", client_id=client_id)
    end_reply(first.reply.pk, COMPLETE, content="Reply to 1")
    second = edit(one, "1", client_id=client_id)
    assert (second.message, second.reply, second.created) == (first.message, first.reply, False)
    assert Message.objects.count() == 4


def test_nothing_is_edited_while_a_reply_is_written(conversation):
    one = talk(conversation, "one")
    post(conversation, "two")
    with pytest.raises(ReplyInProgress):
        edit(one, "1")
    assert contents(conversation) == ["one", "Reply to one", "two", ""]


def test_only_what_a_person_wrote_and_is_shown_can_be_edited(conversation):
    one = talk(conversation, "one")
    with pytest.raises(MessageNotEditable):
        edit(one.children.get(), "I said something else")
    end_reply(edit(one, "1").reply.pk, COMPLETE, content="Reply to 1")
    with pytest.raises(MessageNotFound):
        edit(one, "uno")


@pytest.mark.parametrize(("content", "error"), [(" \n", EmptyMessage), ("word " * 10_000, MessageTooLong)])
def test_a_refused_version_leaves_everything_as_it_was(conversation, content, error):
    one = talk(conversation, "one")
    before = Conversation.objects.values().get()
    with pytest.raises(error):
        edit(one, content)
    assert contents(conversation) == ["one", "Reply to one"]
    assert Conversation.objects.values().get() == before


def test_an_edit_counts_as_a_message(conversation, settings):
    one = talk(conversation, "one")
    settings.MESSAGES_PER_MINUTE = 1
    with pytest.raises(MessageRateReached):
        edit(one, "1")


def test_what_another_user_says_or_has_deleted_is_not_edited(conversation):
    one = talk(conversation, "one")
    elsewhere = talk(begin(conversation.owner), "elsewhere")
    with pytest.raises(MessageNotFound):
        edit_message(
            user=conversation.owner,
            conversation=conversation,
            message_id=elsewhere.pk,
            content="here",
            client_id=uuid.uuid4(),
        )
    delete_conversation(conversation)
    with pytest.raises(ConversationNotFound):
        edit(one, "1")


def test_a_conversation_called_after_its_first_message_is_called_after_its_new_version(conversation):
    one = talk(conversation, "one")
    second = talk(conversation, "one")
    end_reply(edit(second, "2").reply.pk, COMPLETE, content="Reply to 2")
    assert Conversation.objects.get().title == "one"
    edit(one, "1")
    assert Conversation.objects.get().title == "1"


def test_a_name_that_was_given_stays(conversation):
    one = talk(conversation, "one")
    rename_conversation(conversation, title="Counting")
    edit(one, "1")
    assert Conversation.objects.get().title == "Counting"


def test_a_pin_stays_with_its_version_and_off_the_path_is_not_sent(conversation):
    talk(conversation, "one")
    two = talk(conversation, "two")
    three = talk(conversation, "three")
    pin_message(conversation=conversation, message_id=three.pk, pinned=True)
    posted = edit(two, "2")
    record = prepare_reply(posted.reply.pk).window.record
    assert [entry.kind for entry in record.entries] == ["older", "older", "newest"]
    assert not posted.message.pinned
    assert Conversation.objects.get().has_pins


def test_a_window_begins_on_the_path_that_an_edit_has_shortened(conversation):
    one = talk(conversation, "one")
    for number in range(5):
        talk(conversation, f"more {number}")
    Conversation.objects.update(anchor_position=8)
    conversation.refresh_from_db()
    posted = edit(one, "1")
    assert prepare_reply(posted.reply.pk).window.record.anchor == posted.message.position
    assert Conversation.objects.get().anchor_position == 0


@pytest.mark.django_db(transaction=True)
def test_of_two_tabs_that_edit_at_once_one_wins(conversation):
    one = talk(conversation, "one")
    outcomes = at_once(lambda content: edit(one, content), ["1", "uno"], refused_by=ReplyInProgress)
    assert [type(outcome) for outcome in outcomes].count(ReplyInProgress) == 1
    assert len(path_of(conversation)) == 2
    assert Message.objects.filter(parent=None).count() == 2


@pytest.mark.django_db(transaction=True)
def test_the_same_edit_sent_twice_at_once_is_stored_once(conversation):
    one, client_id = talk(conversation, "one"), uuid.uuid4()
    posted = at_once(lambda _: edit(one, "1", client_id=client_id), range(2))
    assert sorted(each.created for each in posted) == [False, True]
    assert Message.objects.filter(parent=None).count() == 2
