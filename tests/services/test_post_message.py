from __future__ import annotations

import uuid

import pytest

from conversations.core.errors import (
    ConversationNotFound,
    EmptyMessage,
    MessageRateReached,
    MessageTooLong,
    ReplyInProgress,
    SignInRequired,
)
from conversations.models import Message, Run
from conversations.services.conversations.conversations import start_conversation
from conversations.services.conversations.deletion import delete_conversation
from conversations.services.messages.post_message import post_message
from conversations.services.replies.end_reply import Ending, end_reply
from tests.support.concurrent_users import at_once
from tests.support.people import begin, make_user, path_of, post

pytestmark = pytest.mark.django_db


def test_it_stores_the_message_with_an_empty_reply_and_its_run():
    conversation = begin(make_user("alice"))
    posted = post(conversation, "Hello")
    assert path_of(conversation) == [("user", "complete", "Hello"), ("assistant", "streaming", "")]
    assert Run.objects.get().reply == posted.reply
    conversation.refresh_from_db()
    assert conversation.head == posted.reply
    assert conversation.title == "Hello"


def test_the_same_client_id_is_the_same_message():
    conversation = begin(make_user("alice"))
    client_id = uuid.uuid4()
    first = post(conversation, "Hello", client_id=client_id)
    second = post(conversation, "Hello", client_id=client_id)
    assert (second.message, second.reply, second.created) == (first.message, first.reply, False)
    assert Message.objects.count() == 2


def test_the_client_id_of_another_conversation_is_another_message():
    alice = make_user("alice")
    client_id = uuid.uuid4()
    posted = [post(begin(alice), "Hello", client_id=client_id) for _ in range(2)]
    assert posted[0].message != posted[1].message


def test_a_second_message_waits_for_the_reply():
    conversation = begin(make_user("alice"))
    first = post(conversation, "Hello")
    with pytest.raises(ReplyInProgress):
        post(conversation, "And?")
    end_reply(first.reply.pk, Ending("complete"), content="Hi")
    post(conversation, "And?")
    assert [content for _, _, content in path_of(conversation)] == ["Hello", "Hi", "And?", ""]


@pytest.mark.parametrize("blank", ["", "  \n\t ", "\x00", "\ud800 \udfff"])
def test_nothing_is_not_a_message(blank):
    conversation = begin(make_user("alice"))
    with pytest.raises(EmptyMessage):
        post(conversation, blank)
    assert not Message.objects.exists()


def test_characters_that_cannot_be_stored_are_taken_out_and_said_so():
    posted = post(begin(make_user("alice")), "a\x00b\ud83dc")
    assert (posted.message.content, posted.cleaned) == ("abc", True)


def test_special_tokens_are_ordinary_text():
    posted = post(begin(make_user("alice")), "<|endoftext|>")
    assert posted.message.content_tokens > 1


def test_a_message_one_token_over_the_limit_is_refused_and_nothing_is_stored():
    conversation = begin(make_user("alice"))
    word = " hello"
    with pytest.raises(MessageTooLong) as refused:
        post(conversation, word * 10_000)
    fits = 10_000 - refused.value.tokens_over
    with pytest.raises(MessageTooLong) as refused:
        post(conversation, word * (fits + 1))
    assert refused.value.tokens_over == 1
    assert not Message.objects.exists()
    assert post(conversation, word * fits).created


def test_a_megabyte_of_one_character_is_refused_by_its_tokens():
    with pytest.raises(MessageTooLong):
        post(begin(make_user("alice")), "a" * 1_000_000)


def test_the_counts_are_stored_with_the_row():
    message = post(begin(make_user("alice")), "one two three").message
    assert (message.content_tokens, message.encoding) == (3, "o200k_base")


def test_too_many_messages_in_a_minute_are_refused_with_when_it_opens_again(settings):
    settings.MESSAGES_PER_MINUTE = 2
    alice = make_user("alice")
    post(begin(alice), "one")
    post(begin(alice), "two")
    with pytest.raises(MessageRateReached) as refused:
        post(begin(alice), "three")
    assert 0 < refused.value.params["seconds"] <= 60


def test_another_users_conversation_cannot_be_begun():
    conversation = begin(make_user("alice"))
    with pytest.raises(ConversationNotFound):
        start_conversation(user=make_user("bob"), public_id=conversation.public_id)


def test_a_deactivated_person_sends_nothing():
    alice = make_user("alice")
    conversation = begin(alice)
    alice.is_active = False
    alice.save()
    with pytest.raises(SignInRequired):
        post_message(user=alice, conversation=conversation, content="Hello", client_id=uuid.uuid4())


def test_a_deleted_conversation_takes_no_message():
    conversation = begin(make_user("alice"))
    delete_conversation(conversation)
    with pytest.raises(ConversationNotFound):
        post(conversation, "Hello")


@pytest.mark.django_db(transaction=True)
def test_two_sends_at_once_are_one_accepted_and_one_refused():
    conversation = begin(make_user("alice"))
    outcomes = at_once(lambda _: post(conversation, "Hello"), range(2), refused_by=ReplyInProgress)
    assert [type(outcome) for outcome in outcomes].count(ReplyInProgress) == 1
    assert len(path_of(conversation)) == 2


@pytest.mark.django_db(transaction=True)
def test_the_same_message_sent_twice_at_once_is_stored_once():
    conversation = begin(make_user("alice"))
    client_id = uuid.uuid4()
    posted = at_once(lambda _: post(conversation, "Hello", client_id=client_id), range(2))
    assert sorted(each.created for each in posted) == [False, True]
    assert len(path_of(conversation)) == 2
