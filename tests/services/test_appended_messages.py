"""What programs store without asking for a reply: bounded, and what its owner left out is not referred to."""

from __future__ import annotations

import pytest
from django.db.models import F

from conversations.core.api.idempotency import IdempotencyMarks
from conversations.core.api.item_ids import StoredId
from conversations.core.api.response_request import read_response_request
from conversations.core.errors import AppendedTextFull, ConversationNotFound
from conversations.core.prompt.messages import PromptMessage
from conversations.models import Conversation, Message
from conversations.services.api import api_conversations
from conversations.services.api.api_conversations import (
    WantedItems,
    append_items,
    begin_conversation,
    list_items,
    note_metadata,
)
from conversations.services.api.api_keys import make_key
from conversations.services.api.ask_response import ask_response, find_stored_item
from conversations.services.api.idempotent_requests import Idempotency
from conversations.services.conversations.deletion import delete_conversation
from conversations.services.messages.mark_message import exclude_message
from conversations.services.replies.end_reply import COMPLETE, end_reply
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db
SAID = (PromptMessage("user", "x" * 400_000), PromptMessage("assistant", "y"))


@pytest.fixture
def key(settings):
    settings.MESSAGES_PER_MINUTE = 0
    return make_key(make_user("alice"), name="a program").key


def test_what_programs_store_has_a_limit_for_all_conversations_of_one_user(settings, key):
    settings.IMPORTED_TEXT_MEGABYTES = 1
    first, second = (begin_conversation(key, SAID, {}) for _ in range(2))
    with pytest.raises(AppendedTextFull):
        append_items(key, second, SAID)
    assert Message.objects.count() == 4
    begin_conversation(make_key(make_user("bob"), name="another").key, SAID, {})
    Conversation.objects.get(pk=first.pk).delete()
    assert len(append_items(key, second, SAID)) == 2


def test_what_is_excluded_or_forgotten_or_someone_elses_is_not_referred_to(key):
    conversation = begin(key.owner)
    replies = []
    for content in ("first", "second", "third"):
        replies.append(post(conversation, content).reply)
        end_reply(replies[-1].pk, COMPLETE, content=f"answer to the {content}")
        conversation.refresh_from_db()
    ids = [f"msg_{StoredId(conversation.public_id, reply.pk).suffix}" for reply in replies]
    assert [find_stored_item(key, each).content for each in ids] == [
        "answer to the first",
        "answer to the second",
        "answer to the third",
    ]
    stranger = make_key(make_user("bob"), name="another").key
    assert find_stored_item(stranger, ids[0]) is None
    exclude_message(conversation=conversation, message_id=replies[1].pk, excluded=True)
    Conversation.objects.filter(pk=conversation.pk).update(forgotten_before=2)
    assert [find_stored_item(key, each) is None for each in ids] == [True, True, False]


def test_conversations_and_what_is_noted_on_them_have_the_same_limit(settings, key):
    """Neither costs money, and no other limit holds: a program that begins them in a loop would fill the disk."""
    settings.IMPORTED_TEXT_MEGABYTES = 1
    noted = {f"{number}": "x" * 512 for number in range(16)}
    begun = begin_conversation(key, (), noted)
    room = 1_000_000 // Conversation.objects.get(pk=begun.pk).appended_bytes
    Conversation.objects.filter(pk=begun.pk).update(appended_bytes=F("appended_bytes") * room)
    with pytest.raises(AppendedTextFull):
        begin_conversation(key, (), noted)
    note_metadata(begun, {})
    other = begin_conversation(key, (), {})  # in the room that is free again
    with pytest.raises(AppendedTextFull):
        note_metadata(other, noted)
    Conversation.objects.filter(pk=begun.pk).update(appended_bytes=0, metadata=noted)  # as of a branch
    note_metadata(begun, {})


def test_a_request_sent_again_finds_no_response_of_a_deleted_conversation(key, settings):
    settings.LANGUAGE_MODELS = "windowseat-demo"
    request = read_response_request(b'{"model": "windowseat-demo", "input": "Hello"}')
    idempotency = Idempotency(key, IdempotencyMarks("a-key"), request.chat.asked_for)
    first = ask_response(key, request, idempotency)
    assert ask_response(key, request, idempotency).id == first.id
    end_reply(first.asked.reply_id, COMPLETE, content="Hello.")
    delete_conversation(first.asked.conversation)
    with pytest.raises(ConversationNotFound):
        ask_response(key, request, idempotency)


def test_a_page_of_long_items_has_fewer(monkeypatch, key):
    monkeypatch.setattr(api_conversations, "MOST_CHARACTERS", 10)
    lengths = (4, 4, 4, 30, 1)
    conversation = begin_conversation(key, [PromptMessage("user", "x" * length) for length in lengths], {})
    pages, after = [], ""
    for _ in lengths:
        found, has_more = list_items(conversation, WantedItems(after, 100, newest_first=False))
        pages.append([len(item.message.content) for item in found])
        after = found[-1].id
        if not has_more:
            break
    assert pages == [[4, 4], [4], [30], [1]]
