"""Tokens of long messages are counted without a connection to the database, however they are sent."""

from __future__ import annotations

import json
import uuid

import pytest
import tiktoken
from django.db import connection
from django.test import Client
from django.urls import reverse

from conversations.core.api.chat_request import read_chat_request
from conversations.core.api.response_request import read_response_request
from conversations.core.prompt.messages import PromptMessage
from conversations.models import Message
from conversations.providers.tokens import tokenizer
from conversations.services.api.api_conversations import append_items, begin_conversation
from conversations.services.api.api_keys import make_key
from conversations.services.api.ask_conversation import ask_conversation
from conversations.services.api.ask_response import ask_response
from conversations.services.api.prepare_chat import prepare_chat
from conversations.services.language_models import model_context
from conversations.services.language_models.model_choice import offered_models
from conversations.services.messages.edit_message import edit_message
from conversations.services.messages.post_message import post_message
from conversations.services.replies.end_reply import COMPLETE, end_reply
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db(transaction=True)
SENT_CHARACTERS = 25_000


@pytest.fixture
def counted(monkeypatch):
    """Whether a connection was held, of each text that was counted and is long enough to take milliseconds."""
    held, encode = [], tiktoken.Encoding.encode_ordinary

    def count(encoding, text):
        if len(text) >= SENT_CHARACTERS:
            held.append(connection.connection is not None)
        return encode(encoding, text)

    monkeypatch.setattr(tiktoken.Encoding, "encode_ordinary", count)
    monkeypatch.setattr(model_context, "_kept_contexts", {})  # they count by what was there before
    tokenizer.count_text.cache_clear()
    yield held
    tokenizer.count_text.cache_clear()


@pytest.fixture
def alice(settings):
    settings.MESSAGES_PER_MINUTE = 0
    settings.OPENAI_API_KEY, settings.LANGUAGE_MODELS = "x", "large context_window=128000"
    return make_user("alice")


@pytest.fixture
def key(alice):
    return make_key(alice, name="a program").key


def long_text():
    """Return a text that no test has counted before."""
    return f"{uuid.uuid4()} " + "some words of a message " * (SENT_CHARACTERS // 20)


def send_by_form(user, public_id, content):
    browser = Client()
    browser.force_login(user)
    address = reverse("conversations:post", args=[public_id])
    posted = browser.post(address, {"content": content, "client_id": uuid.uuid4()}, headers={"Accept": "text/html"})
    assert posted.status_code == 302


def model(key):
    return offered_models(key.owner)[0].name


def chat_request(key, *contents):
    messages = [{"role": role, "content": content} for role, content in contents]
    return read_chat_request(json.dumps({"model": model(key), "messages": messages}).encode())


def response_request(key, *contents):
    messages = [{"role": role, "content": content} for role, content in contents]
    return read_response_request(json.dumps({"model": model(key), "input": messages}).encode())


def send_by_socket(key, text):
    post_message(user=key.owner, conversation=begin(key.owner), content=text, client_id=uuid.uuid4())


def edit(key, text):
    posted = post(begin(key.owner), "Hello")
    end_reply(posted.reply.pk, COMPLETE, content="Good morning")
    conversation, client_id = posted.message.conversation, uuid.uuid4()
    edit_message(
        user=key.owner, conversation=conversation, message_id=posted.message.pk, content=text, client_id=client_id
    )


WAYS = {
    "a form that begins": lambda key, text: send_by_form(key.owner, uuid.uuid4(), text),
    "a form": lambda key, text: send_by_form(key.owner, begin(key.owner).public_id, text),
    "a socket": send_by_socket,
    "an edit": edit,
    "a chat completion": lambda key, text: prepare_chat(key, chat_request(key, ("user", text))),
    "its history": lambda key, text: prepare_chat(
        key, chat_request(key, ("user", "x"), ("assistant", text), ("user", "y"))
    ),
    "a conversation of a program": lambda key, text: ask_conversation(
        key, uuid.uuid4(), chat_request(key, ("user", text))
    ),
    "a response": lambda key, text: ask_response(key, response_request(key, ("user", text))),
    "the history of a response": lambda key, text: ask_response(
        key, response_request(key, ("user", "x"), ("assistant", text), ("user", "y"))
    ),
    "a conversation that begins with items": lambda key, text: begin_conversation(
        key, [PromptMessage("user", text)], {}
    ),
    "items": lambda key, text: append_items(key, begin(key.owner), [PromptMessage("user", text)]),
}


@pytest.mark.parametrize("way", WAYS)
def test_no_connection_is_held_while_a_long_message_is_counted(key, counted, way):
    text = long_text()
    WAYS[way](key, text)
    assert counted == [False]
    for message in Message.objects.filter(content=text):
        assert message.content_tokens == tokenizer.count_text(message.encoding)(text)
