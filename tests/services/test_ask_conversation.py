"""Messages of programs in conversations: one that is refused begins none, and leaves nothing behind."""

from __future__ import annotations

import json
import uuid

import pytest

from conversations.core.api.chat_request import read_chat_request
from conversations.core.errors import ApiKeyRateReached, ConversationNotFound, ParameterInvalid
from conversations.models import Conversation, Message
from conversations.services.api.api_keys import KeyBounds, make_key
from conversations.services.api.ask_conversation import ask_conversation
from conversations.services.conversations.deletion import delete_conversation
from conversations.services.language_models.model_choice import offered_models
from tests.support.people import begin, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice(settings):
    settings.MESSAGES_PER_MINUTE = 0
    return make_user("alice")


def ask(key, public_id):
    body = {"model": offered_models(key.owner)[0].name, "messages": [{"role": "user", "content": "Hello"}]}
    return ask_conversation(key, public_id, read_chat_request(json.dumps(body).encode()))


def test_what_is_refused_begins_no_conversation(alice):
    """A program that asks again and again with a new id would fill the database."""
    key = make_key(alice, name="x", bounds=KeyBounds(requests_per_minute=1)).key
    ask(key, uuid.uuid4())
    for _ in range(3):
        with pytest.raises(ApiKeyRateReached):
            ask(key, uuid.uuid4())
    assert (Conversation.objects.count(), Message.objects.count()) == (1, 2)


def test_a_deleted_conversation_and_another_users_are_not_there(alice):
    key = make_key(alice, name="x").key
    deleted, other = begin(alice), begin(make_user("bob"))
    delete_conversation(deleted)
    for conversation in (deleted, other):
        with pytest.raises(ConversationNotFound):
            ask(key, conversation.public_id)
    assert not Message.objects.exists()


def test_another_model_than_the_conversations_begins_nothing(alice, settings):
    settings.OPENAI_API_KEY, settings.LANGUAGE_MODELS = "x", "one context_window=8192, two context_window=8192"
    conversation = begin(alice)
    body = {"model": "two", "messages": [{"role": "user", "content": "Hello"}]}
    with pytest.raises(ParameterInvalid):
        ask_conversation(
            make_key(alice, name="x").key, conversation.public_id, read_chat_request(json.dumps(body).encode())
        )
    assert not Message.objects.exists()
