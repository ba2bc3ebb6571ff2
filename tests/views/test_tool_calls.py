"""Deciding about a tool call over plain HTTP."""

from __future__ import annotations

import pytest
from django.urls import reverse

from tests.support.awaiting_approval import make_call_awaiting_approval
from tests.support.people import make_user

pytestmark = pytest.mark.django_db
JSON = {"accept": "application/json"}


@pytest.fixture
def call(client):
    alice = make_user("alice")
    client.force_login(alice, "allauth.account.auth_backends.AuthenticationBackend")
    return make_call_awaiting_approval(alice, {"note": "Buy milk"})


def send(client, call, *, headers=JSON, **fields):
    address = reverse("conversations:decide_call", args=[call.reply.conversation.public_id, call.pk])
    return client.post(address, {"digest": call.digest, "allowed": "yes"} | fields, headers=headers)


def test_the_page_shows_exactly_what_is_approved_and_no_form_once_it_is_decided(client, call):
    page = reverse("conversations:conversation", args=[call.reply.conversation.public_id])
    shown = client.get(page).text
    form = shown[shown.index('class="approval"') : shown.index("</form>", shown.index('class="approval"'))]
    assert "&quot;note&quot;: &quot;Buy milk&quot;" in form
    assert all(
        words in form for words in ("write_down", call.digest, 'value="yes"', 'value="no"', f"/{call.pk}/decide/")
    )
    send(client, call)
    assert call.digest not in client.get(page).text


@pytest.mark.parametrize(("allowed", "state"), [("yes", "ready"), ("no", "refused")])
def test_a_script_is_told_what_has_become_of_the_call(client, call, allowed, state):
    response = send(client, call, allowed=allowed)
    assert (response.status_code, response.json()) == (200, {"call": call.pk, "state": state})


def test_a_plain_form_leads_to_the_conversation(client, call):
    response = send(client, call, headers={})
    assert response.url == reverse("conversations:conversation", args=[call.reply.conversation.public_id])


def test_a_user_who_comes_too_late_is_told_so(client, call):
    send(client, call, allowed="no")
    response = send(client, call)
    assert (response.status_code, response.json()["code"]) == (409, "call_not_awaiting_approval")
    assert "no longer waiting for approval" in send(client, call, headers={}).text


def test_another_users_call_is_not_there(client, call):
    client.force_login(make_user("bob"), "allauth.account.auth_backends.AuthenticationBackend")
    assert send(client, call).status_code == send(client, call, headers={}).status_code == 404


@pytest.mark.parametrize("allowed", ["", "true", "YES", "yes no"])
def test_what_is_neither_yes_nor_no_is_no_answer(client, call, allowed):
    assert send(client, call, allowed=allowed).status_code == 400
    call.refresh_from_db()
    assert (call.state, call.decided_at) == ("awaiting_approval", None)
