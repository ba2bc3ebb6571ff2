"""The dialog of a conversation's notes, and “About me” on the account page: what is refused comes back as typed."""

from __future__ import annotations

import json

import pytest
from django.urls import reverse

from conversations.services.conversations.notes import MOST_CHARACTERS
from tests.support.people import begin, make_user

pytestmark = pytest.mark.django_db
HTMX = {"hx-request": "true"}
TOO_LONG = "<b>x</b>" + "x" * MOST_CHARACTERS


@pytest.fixture
def alice(client):
    user = make_user("alice")
    client.force_login(user, "allauth.account.auth_backends.AuthenticationBackend")
    return user


def test_the_dialog_saves_and_tells_the_page(client, alice):
    conversation = begin(alice)
    address = reverse("conversations:notes", args=[conversation.public_id])
    answer = client.post(address, {"notes": "Use metres."}, headers=HTMX)
    assert (answer.status_code, answer.content) == (204, b"")
    assert json.loads(answer.headers["hx-trigger"]) == {"notesSaved": {"conversation": str(conversation.public_id)}}
    assert "Use metres.</textarea>" in client.get(address, headers=HTMX).text
    assert client.post(address, {"notes": "Use feet."}).url == reverse(
        "conversations:conversation", args=address.split("/")[2:3]
    )


def test_notes_that_are_too_long_come_back_as_they_were_typed(client, alice):
    conversation = begin(alice)
    address = reverse("conversations:notes", args=[conversation.public_id])
    answer = client.post(address, {"notes": TOO_LONG}, headers=HTMX)
    assert "Notes may have 4,000 characters, and these have 4,008." in answer.text
    assert f"&lt;b&gt;x&lt;/b&gt;{'x' * MOST_CHARACTERS}</textarea>" in answer.text
    conversation.refresh_from_db()
    assert conversation.notes == ""


def test_about_me_is_saved_on_the_account_page_or_comes_back(client, alice):
    address = reverse("conversations:about_me")
    refused = client.post(address, {"about_me": TOO_LONG})
    assert refused.status_code == 400
    assert f"{'x' * MOST_CHARACTERS}</textarea>" in refused.text
    saved = client.post(address, {"about_me": "I am <Ada>."}, follow=True)
    assert "Saved." in saved.text
    assert "I am &lt;Ada&gt;.</textarea>" in saved.text


def test_recall_from_other_conversations_is_switched_with_it(client, alice):
    address = reverse("conversations:about_me")
    for given, stored in (
        ({"asks_recall": "true", "recalls_other_conversations": "on"}, True),
        ({}, True),  # of a page from before there was such a question
        ({"asks_recall": "true"}, False),
    ):
        refused = client.post(address, {"about_me": TOO_LONG, **given})
        assert ('name="recalls_other_conversations" aria-describedby="recalls-hint" checked' in refused.text) == stored
        assert 'name="asks_recall" value="true"' in refused.text
        client.post(address, {"about_me": "I am Ada.", **given})
        alice.refresh_from_db()
        assert alice.recalls_other_conversations == stored


def test_a_conversation_is_kept_out_where_that_is_asked(client, alice):
    conversation = begin(alice)
    address = reverse("conversations:notes", args=[conversation.public_id])
    assert "Keep out of my other conversations" not in client.get(address).text
    alice.recalls_other_conversations = True
    alice.save()
    assert "Keep out of my other conversations" in client.get(address).text
    for given, kept_out in (
        ({"asks_recall": "true", "kept_out_of_recall": "on"}, True),
        ({}, True),  # the form had no such question
        ({"asks_recall": "true"}, False),
    ):
        client.post(address, {"notes": "Be brief.", **given})
        conversation.refresh_from_db()
        assert conversation.kept_out_of_recall == kept_out
