"""The Markdown source of a message, which a button under it copies."""

from __future__ import annotations

import pytest
from django.urls import reverse

from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.replies.reasoning import Reasoning
from tests.support.people import begin, make_user, post
from tests.support.tool_steps import add_call, end_step

pytestmark = pytest.mark.django_db


@pytest.fixture
def reply(client):
    alice = make_user("alice")
    client.force_login(alice, "allauth.account.auth_backends.AuthenticationBackend")
    return post(begin(alice), "What is 17 × 23?").reply


def address(name, reply):
    return reverse(f"conversations:{name}", args=[reply.conversation.public_id, reply.pk])


def page_of(client, reply):
    return client.get(reverse("conversations:conversation", args=[reply.conversation.public_id])).text


def test_it_is_what_the_model_wrote_in_all_steps_and_nothing_that_it_thought(client, reply):
    add_call(reply, result="391")
    end_step(reply, text="Let me *see*.", reasoning=Reasoning("A sum.", 2))
    end_reply(reply.pk, COMPLETE, content="It is **391** <b>.\n\n- so", reasoning=Reasoning("So it is.", 3))
    response = client.get(address("message_markdown", reply))
    assert response.content.decode() == "Let me *see*.\n\nIt is **391** <b>.\n\n- so"
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    assert address("message_markdown", reply) in page_of(client, reply)


def test_a_reply_that_says_nothing_has_no_button(client, reply):
    end_reply(reply.pk, COMPLETE, content="", reasoning=Reasoning("So it is.", 3))
    assert client.get(address("message_markdown", reply)).content == b""
    assert address("message_markdown", reply) not in page_of(client, reply)


def test_an_own_message_is_copied_as_it_was_written(client, reply):
    question = reply.parent
    assert client.get(address("message_markdown", question)).text == "What is 17 × 23?"
    assert address("message_markdown", question) in page_of(client, reply)
