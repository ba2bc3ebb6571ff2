"""What programs store without asking for a reply: bounded, and what its owner left out is not referred to."""

from __future__ import annotations

import pytest

from conversations.core.api.item_ids import StoredId
from conversations.core.errors import AppendedTextFull
from conversations.core.prompt.messages import PromptMessage
from conversations.models import Conversation, Message
from conversations.services.api.api_conversations import append_items, begin_conversation
from conversations.services.api.api_keys import make_key
from conversations.services.api.ask_response import find_stored_item
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
