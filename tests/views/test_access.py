"""Every address under a conversation, asked by somebody else: there is no such thing, and nothing happens."""

from __future__ import annotations

import pytest
from django.urls import reverse

from conversations.urls import urlpatterns
from tests.people import begin, make_user, path_of, post

pytestmark = pytest.mark.django_db(transaction=True)
OF_A_CONVERSATION = [pattern.name for pattern in urlpatterns if "public_id" in str(pattern.pattern)]
POSTED = {"scenario", "post", "stop", "regenerate", "delete", "restore", "pin", "exclude", "show"}
FORM = {
    "content": "Hello",
    "client_id": "6f1f0a52-6a3c-4f0e-9d8e-0f4b5f1a2b3c",
    "title": "Mine",
    "pinned": "true",
    "excluded": "true",
}


def address(name, posted):
    ids = {"public_id": posted.message.conversation.public_id}
    if name in ("stop", "regenerate", "window", "request"):
        ids["reply_id"] = posted.reply.pk
    if name in ("pin", "exclude", "edit", "show"):
        ids["message_id"] = posted.message.pk
    return reverse(f"conversations:{name}", kwargs=ids)


@pytest.mark.parametrize("accept", ["text/html", "application/json"])
@pytest.mark.parametrize("name", OF_A_CONVERSATION)
def test_a_stranger_finds_nothing(client, name, accept):
    posted = post(begin(make_user("alice")), "A secret")
    client.force_login(make_user("charlie"), "allauth.account.auth_backends.AuthenticationBackend")
    before = path_of(posted.message.conversation)
    ask = client.post if name in POSTED else client.get
    response = ask(address(name, posted), FORM, headers={"accept": accept})
    assert response.status_code == 404
    assert b"A secret" not in response.content
    assert path_of(posted.message.conversation) == before


@pytest.mark.parametrize("name", OF_A_CONVERSATION)
def test_nobody_gets_in_without_an_account(client, name):
    posted = post(begin(make_user("alice")), "A secret")
    ask = client.post if name in POSTED else client.get
    assert ask(address(name, posted), FORM, headers={"accept": "application/json"}).status_code == 401
