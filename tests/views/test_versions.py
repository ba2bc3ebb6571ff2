"""Editing and versions over plain HTTP: what a form and the page's script are answered."""

from __future__ import annotations

import uuid

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from conversations.services.replies.end_reply import COMPLETE, end_reply
from tests.support.people import begin, make_user, path_of, post

pytestmark = pytest.mark.django_db(transaction=True)
JSON = {"accept": "application/json"}


@pytest.fixture
def message(client, settings):
    settings.MESSAGES_PER_MINUTE = 0
    user = make_user("alice")
    client.force_login(user, "allauth.account.auth_backends.AuthenticationBackend")
    return talk(begin(user), "My name is Andrew")


def talk(conversation, content):
    posted = post(conversation, content)
    end_reply(posted.reply.pk, COMPLETE, content="Hello")
    return posted.message


def address(name, message):
    return reverse(f"conversations:{name}", args=[message.conversation.public_id, message.pk])


def edit(client, message, content, *, headers=JSON, client_id=None):
    fields = {"content": content, "client_id": client_id or uuid.uuid4()}
    return client.post(address("edit", message), fields, headers=headers)


def page_of(message):
    return reverse("conversations:conversation", args=[message.conversation.public_id])


def test_an_edit_is_acknowledged_like_a_message(client, message):
    answer = edit(client, message, "My name is Matilda")
    assert answer.status_code == 201
    assert {key: answer.json()[key] for key in ("position", "cleaned")} == {"position": 0, "cleaned": False}


def test_an_edit_sent_again_is_the_same_version(client, message):
    client_id = uuid.uuid4()
    first, second = (edit(client, message, "My name is Matilda", client_id=client_id) for _ in range(2))
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json() == second.json()


def test_the_form_holds_the_words_and_leads_back(client, message):
    assert ">My name is Andrew</textarea>" in client.get(address("edit", message)).text
    assert edit(client, message, "My name is Matilda", headers={}).url == page_of(message)
    assert path_of(message.conversation)[0][2] == "My name is Matilda"


def test_the_script_gets_the_words(client, message):
    assert client.get(address("edit", message), headers=JSON).json() == {"content": "My name is Andrew"}


def test_a_refused_form_keeps_what_was_typed_and_says_why(client, message):
    refused = edit(client, message, "word " * 9_000, headers={})
    assert refused.status_code == 413
    assert "word word" in refused.text
    assert "tokens" in refused.text


@pytest.mark.parametrize(("content", "status"), [(" ", 400), ("word " * 9_000, 413)])
def test_a_script_is_told_why(client, message, content, status):
    answer = edit(client, message, content)
    assert (answer.status_code, bool(answer.json()["message"])) == (status, True)


def test_no_one_edits_a_reply(client, message):
    reply = message.children.get()
    answers = [edit(client, reply, "I am wrong"), client.get(address("edit", reply), headers=JSON)]
    assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [(409, "message_not_editable")] * 2
    assert client.get(address("edit", reply)).status_code == 409


def test_nothing_is_edited_or_shown_while_a_reply_is_written(client, message):
    edit(client, message, "My name is Matilda")
    [shown] = message.conversation.messages.filter(active=True, position=0)
    answers = [edit(client, shown, "My name is Jo"), client.post(address("show", message), headers=JSON)]
    assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [(409, "reply_in_progress")] * 2


def test_a_version_is_shown_again(client, message):
    reply = edit(client, message, "My name is Matilda").json()["reply"]
    end_reply(reply, COMPLETE, content="Hello")
    assert client.post(address("show", message)).url == f"{page_of(message)}#message-{message.pk}"
    assert path_of(message.conversation)[0][2] == "My name is Andrew"
    again = client.post(address("show", message), headers=JSON).json()
    assert again == {"message": message.pk, "position": 0}


def test_the_page_says_which_version_it_shows_and_offers_the_others(client, message):
    assert "Versions" not in client.get(page_of(message)).text
    for name in ("Matilda", "Jo"):
        [shown] = message.conversation.messages.filter(active=True, position=0)
        end_reply(edit(client, shown, f"My name is {name}").json()["reply"], COMPLETE, content="Hello")
    second = message.conversation.messages.get(content="My name is Matilda")
    client.post(address("show", second))
    page = client.get(page_of(message)).text
    assert "2 of 3" in page
    versions = message.conversation.messages.filter(parent=None)
    assert {each.content for each in versions if address("show", each) not in page} == {second.content}


def test_a_page_of_many_messages_takes_no_more_statements(client, message):
    few = statements_of_page(client, message)
    for number in range(5):
        end_reply(edit(client, talk(message.conversation, "And?"), f"{number}?").json()["reply"], COMPLETE, content="!")
    assert statements_of_page(client, message) == few


def statements_of_page(client, message):
    client.get(page_of(message))  # what is read once and remembered is read now
    with CaptureQueriesContext(connection) as taken:
        client.get(page_of(message))
    return len(taken)


def test_a_snapshot_names_what_it_follows(client, message):
    sync = reverse("conversations:sync", args=[message.conversation.public_id])
    parents = [client.get(f"{sync}?from={position}").json()["parent"] for position in (0, 1, 2, 5)]
    assert parents == [None, message.pk, message.children.get().pk, None]
