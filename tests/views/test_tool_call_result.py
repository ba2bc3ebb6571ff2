"""The whole result of a tool call: a text that its owner saves, and no browser shows as a page of this site."""

from __future__ import annotations

import pytest
from django.urls import reverse

from conversations.views.http.inert_policy import INERT
from tests.support.people import begin, make_user, post
from tests.support.tool_steps import add_call, end_step

pytestmark = pytest.mark.django_db
LONG = "<script>alert(1)</script>\n" * 1_000


@pytest.fixture
def reply(client):
    alice = make_user("alice")
    client.force_login(alice, "allauth.account.auth_backends.AuthenticationBackend")
    return post(begin(alice), "Look for it").reply


def address_of(call):
    return reverse("conversations:call_result", args=[call.reply.conversation.public_id, call.pk])


@pytest.mark.parametrize("is_stored", [True, False], ids=["in its step", "before its step is stored"])
def test_all_of_a_result_is_saved_as_text(client, reply, is_stored):
    call = add_call(reply, "../look\r\nup", result=LONG)
    if is_stored:
        end_step(reply)
    response = client.get(address_of(call))
    assert response.content.decode() == LONG
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    assert response["Content-Disposition"] == f'attachment; filename="result-{call.pk}.txt"'
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Security-Policy"] == INERT


def test_the_page_leads_to_it_where_it_shows_only_the_beginning(client, reply):
    page = reverse("conversations:conversation", args=[reply.conversation.public_id])
    short, long = add_call(reply, result="391"), add_call(reply, result=LONG)
    shown = client.get(page).content.decode()
    assert address_of(long) in shown
    assert address_of(short) not in shown


def test_others_do_not_find_it(client, reply):
    call = add_call(reply, result=LONG)
    client.force_login(make_user("bob"), "allauth.account.auth_backends.AuthenticationBackend")
    assert client.get(address_of(call)).status_code == 404
