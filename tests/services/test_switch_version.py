from __future__ import annotations

import uuid

import pytest

from conversations.core.errors import MessageNotFound, ReplyInProgress
from conversations.models import Conversation, Message
from conversations.services.messages.edit_message import edit_message
from conversations.services.messages.switch_version import switch_version
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.replies.regenerate_reply import regenerate_reply
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


def edit(message, content):
    """Edit *message* and have the new version answered; return it."""
    conversation = message.conversation
    posted = edit_message(
        user=conversation.owner,
        conversation=conversation,
        message_id=message.pk,
        content=content,
        client_id=uuid.uuid4(),
    )
    end_reply(posted.reply.pk, COMPLETE, content=f"Reply to {content}")
    return posted.message


def show(message):
    return switch_version(conversation=message.conversation, message_id=message.pk)


def contents(conversation):
    return [content for _, _, content in path_of(conversation)]


def test_a_version_comes_back_with_all_that_was_said_after_it(conversation):
    one = talk(conversation, "one")
    talk(conversation, "two")
    first = edit(one, "1")
    show(one)
    assert contents(conversation) == ["one", "Reply to one", "two", "Reply to two"]
    assert Conversation.objects.get().head.content == "Reply to two"
    show(first)
    assert contents(conversation) == ["1", "Reply to 1"]


def test_the_newest_branch_below_a_version_is_shown(conversation):
    one = talk(conversation, "one")
    two = talk(conversation, "two")
    edit(two, "2")
    show(two)
    edit(one, "1")
    show(one)
    assert contents(conversation) == ["one", "Reply to one", "2", "Reply to 2"]


def test_a_reply_that_was_made_again_gets_its_first_version_back(conversation):
    reply = talk(conversation, "one").children.get()
    again = regenerate_reply(user=conversation.owner, conversation=conversation, reply_id=reply.pk)
    end_reply(again.pk, COMPLETE, content="Another reply")
    show(reply)
    assert contents(conversation) == ["one", "Reply to one"]
    talk(conversation, "two")
    assert contents(conversation)[2:] == ["two", "Reply to two"]


def test_a_version_that_is_shown_stays(conversation):
    one = talk(conversation, "one")
    before = Conversation.objects.values().get()
    assert show(one) == one
    assert Conversation.objects.values().get() == before


def test_no_other_version_is_shown_while_a_reply_is_written(conversation):
    one = talk(conversation, "one")
    edit(one, "1")
    post(conversation, "two")
    with pytest.raises(ReplyInProgress):
        show(one)
    assert contents(conversation) == ["1", "Reply to 1", "two", ""]


def test_what_follows_a_version_that_is_not_shown_is_not_found(conversation):
    one = talk(conversation, "one")
    reply = one.children.get()
    edit(one, "1")
    with pytest.raises(MessageNotFound):
        show(reply)


def test_the_title_follows_the_first_message(conversation):
    one = talk(conversation, "one")
    edit(one, "1")
    show(one)
    assert Conversation.objects.get().title == "one"


def test_a_conversation_of_thousands_takes_few_statements(conversation, django_assert_max_num_queries):
    one = talk(conversation, "one")
    reply = one.children.get()
    for number in range(1_000):
        reply = Message.objects.create(
            conversation=conversation, parent=reply, position=number + 2, role="assistant", content="x", encoding="e"
        )
    Conversation.objects.update(head=reply)
    edit(one, "1")
    with django_assert_max_num_queries(13):
        show(one)
    assert Message.objects.filter(active=True).count() == 1_002
