"""Ratings by a form, by the buttons and by the page's script."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from conversations.models import Rating
from conversations.services.replies.end_reply import COMPLETE, end_reply
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db
JSON = {"accept": "application/json"}


@pytest.fixture
def reply(client):
    alice = make_user("alice")
    client.force_login(alice, "allauth.account.auth_backends.AuthenticationBackend")
    posted = post(begin(alice), "What is 17 × 23?")
    end_reply(posted.reply.pk, COMPLETE, content="391")
    return posted.reply


def address(reply):
    return reverse("conversations:rating", args=[reply.conversation.public_id, reply.pk])


def buttons(client, reply):
    text = client.get(reverse("conversations:conversation", args=[reply.conversation.public_id])).text
    found = re.findall(r'value="(\w+)"\s+data-action="rate-(\w+)" aria-pressed="(\w+)"', text)
    return {verdict: (value, pressed) for value, verdict, pressed in found}


def test_a_button_that_is_pressed_takes_the_rating_back(client, reply):
    assert buttons(client, reply) == {"good": ("good", "false"), "bad": ("bad", "false")}
    answer = client.post(address(reply), {"verdict": "good"})
    assert answer.url.endswith(f"#message-{reply.pk}")
    assert buttons(client, reply) == {"good": ("none", "true"), "bad": ("bad", "false")}
    client.post(address(reply), {"verdict": "none"})
    assert buttons(client, reply) == {"good": ("good", "false"), "bad": ("bad", "false")}


def test_a_script_gets_the_rating_that_is_kept(client, reply):
    assert client.get(address(reply), headers=JSON).json() == {"verdict": "none", "remark": ""}
    stored = client.post(address(reply), {"verdict": "bad", "remark": "wrong"}, headers=JSON).json()
    assert stored == {"verdict": "bad", "remark": "wrong"} == client.get(address(reply), headers=JSON).json()


def test_a_form_asks_for_both_and_keeps_what_was_typed_when_it_is_refused(client, reply):
    client.post(address(reply), {"verdict": "bad", "remark": "wrong"})
    form = client.get(address(reply)).text
    assert 'value="bad" checked' in form
    assert ">wrong</textarea>" in form
    refused = client.post(address(reply), {"verdict": "good", "remark": "y" * 2_001})
    assert refused.status_code == 400
    assert "y" * 2_001 in refused.text
    assert "2,001" in refused.text
    assert Rating.objects.get().verdict == "bad"


@pytest.mark.parametrize("verdict", ["", "splendid"])
def test_an_unknown_verdict_is_refused(client, reply, verdict):
    assert client.post(address(reply), {"verdict": verdict}, headers=JSON).status_code == 400
    assert not Rating.objects.exists()
